import type { Client, Destination, Hold } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'
import { openGate } from '../steering/open-gate.ts'
import { nameOf } from '../steering/watch-it.ts'
import { holdsOf } from './say-gates.ts'
import { ENDS } from './standing-orders.ts'
import { stormOf } from './storm.ts'

/** Spares a destination that retries weigh on. The pause has an end: if it is forgotten, it does not last for ever. */
export function spareIt(one: Destination, typed: RemoteCall['typed']): readonly string[] {
  const isSpared = one.hold !== undefined || SPARING.has(one.kindHolds?.retry?.reason)
  return isSpared ? [] : [typed('pause', nameOf(one), '--for', '30min')]
}

/** Retries are stopped, or one at a time is sent. */
const SPARING: ReadonlySet<Hold['reason'] | undefined> = new Set(['kill-switch', 'breaker-open'])

/** What can be done about a destination as it is: what undoes an order, or spares it; then where to look closer. */
export async function nextSteps(one: Destination, { client, typed, clock }: RemoteCall): Promise<readonly string[]> {
  const { destination, settings, exhausted, lastFailure, tenants = [] } = one
  const held = tenants.find(each => holdsOf(each).length > 0)
  const name = nameOf(one)
  const isForced = (settings?.forced?.breaker ?? 'auto') !== 'auto'
  const isStorm = stormOf([one], clock.now()) !== undefined
  const switches = holdsOf(one).filter(({ reason }) => reason === 'kill-switch')
  const opening = switches.flatMap(gate => openGate(gate, name, typed) ?? [])
  return [
    ...(settings?.paused === undefined ? [] : await comeBack(one, client, typed)),
    ...(settings?.draining === undefined ? [] : [typed(...ENDS.draining(name))]),
    ...(isForced ? [typed(...ENDS.forced(name))] : []),
    // A switch for retries holds two kinds of attempts.
    ...new Set(opening),
    ...(isStorm ? spareIt(one, typed) : []),
    ...(held?.tenant === undefined ? [] : [typed('destinations', 'get', destination, '--tenant', held.tenant)]),
    typed('tasks', 'list', '--destination', destination),
    ...(lastFailure === undefined ? [] : [typed('tasks', 'attempts', lastFailure.taskId)]),
    ...(exhausted > 0 ? [typed('dead', 'causes', '--destination', destination)] : []),
  ]
}

/** One task first, if it passes the pause; then the others under a stop rule. */
async function comeBack(one: Destination, client: Client, typed: RemoteCall['typed']): Promise<readonly string[]> {
  const { destination, backlog, settings, operatorSettings } = one
  const isByOperator = [settings, operatorSettings].some(set => set?.paused?.isByOperator)
  const { items } =
    backlog === 0 || isByOperator
      ? { items: [] }
      : await client.tasks.list({ destination, status: 'PENDING' }).page({ limit: 1 })
  return [
    ...items.map(({ taskId }) => typed('tasks', 'attempt-now', taskId, '--wait', '30s')),
    openGate({ reason: 'paused' }, nameOf(one), typed)!,
  ]
}
