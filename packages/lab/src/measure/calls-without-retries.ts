import type { Scenario } from '../scenario/scenario.ts'

/** How often each dependency would be called if every call were made once. */
export function callsWithoutRetries(
  { clients, dependencies }: Scenario,
  operationsOf: (group: string) => number,
): Map<string, number> {
  const asked = new Map<string, number>()
  const call = (name: string, times: number): void => {
    asked.set(name, (asked.get(name) ?? 0) + times)
    for (const below of dependencies[name]!.downstream ?? []) call(below.calls, times * (below.times ?? 1))
  }
  for (const group of clients) call(group.calls, operationsOf(group.name))
  return asked
}
