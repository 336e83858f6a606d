import type { RetryTask } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'
import { whoseFlag } from '../remote/whose.ts'
import { isMended } from './advice.ts'

/** A destination that has died of more than that is replayed as a whole. */
const MOST_CAUSES = 50

/** After one that came through: those that died at the same destination, and whose requests are not at fault. */
export async function replayOthers(
  { destination, tenant }: RetryTask,
  { client, typed, tenant: named }: RemoteCall,
): Promise<readonly string[]> {
  const { items } = await client.deadLetters.groups({ destination }).page({ limit: MOST_CAUSES })
  const [cause, ...others] = items.filter(one => one.tenant === tenant && !isMended(one))
  if (cause === undefined) return []
  const which = others.length === 0 ? ['--cause-id', cause.causeId] : ['--destination', destination]
  return [typed('replay', 'plan', ...which, ...whoseFlag({ tenant }, named))]
}
