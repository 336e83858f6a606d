import type { Answer } from '../command.ts'
import { nearest } from '../input/nearest.ts'
import { typedWith } from '../input/typed.ts'
import type { RemoteCall } from '../remote/remote-command.ts'

/** What the audit tells of; a newer service may do more. */
export const ACTIONS: readonly string[] = [
  ...['create', 'end'].map(verb => `control.${verb}`),
  ...['settings', 'pause', 'resume', 'drain', 'undrain', 'force'].map(verb => `destination.${verb}`),
  ...['create', 'rotate', 'revoke'].map(verb => `key.${verb}`),
  'policy.put',
  ...['create', 'run', 'pause', 'resume', 'cancel', 'stop'].map(verb => `replay.${verb}`),
  ...['create', 'rotate', 'delete'].map(verb => `secret.${verb}`),
  ...['attempt-now', 'cancel', 'replay'].map(verb => `task.${verb}`),
  'tenant.create',
]

/** For a list that is empty: perhaps because nothing is called like this. */
export function tellUnknownAction(
  entries: readonly unknown[],
  action: string | undefined,
  { words, terminal }: RemoteCall,
): Pick<Answer, 'next'> {
  if (entries.length > 0 || action === undefined || ACTIONS.includes(action)) return {}
  const meant = nearest(action, ACTIONS)
  terminal.tell(`no action is called ${action}${meant === undefined ? '' : `; did you mean ${meant}?`}\n`)
  return { next: meant === undefined ? [] : [typedWith(words, '--action', meant)] }
}
