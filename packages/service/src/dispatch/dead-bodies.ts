import { neededForDeadLetter } from '../bodies/needed-until.ts'
import type { AcceptedTask } from '../task/task.ts'
import type { DispatchPorts } from './ports.ts'

/** Keeps the large bodies of dead letters, which may be replayed; false when the store gave no answer. */
export async function keepBodies(
  { calls, store, time }: Pick<DispatchPorts, 'calls' | 'store' | 'time'>,
  dead: readonly AcceptedTask[],
): Promise<boolean> {
  const names = dead.flatMap(({ tenant, request: { storedBody } }) =>
    storedBody === undefined ? [] : [{ tenant, bodyRef: storedBody.bodyRef }],
  )
  if (names.length === 0) return true
  return (await calls.read(() => store.bodies(names, neededForDeadLetter(time.now())))) !== undefined
}
