import type { Scenario } from '../scenario/scenario.ts'

/** How often each dependency would be called if every call were made once. */
export function callsWithoutRetries(
  { clients, dependencies }: Pick<Scenario, 'clients' | 'dependencies'>,
  operationsOf: (group: string) => number,
): Map<string, number> {
  const asked = new Map<string, number>()
  const call = (name: string, times: number): void => void asked.set(name, (asked.get(name) ?? 0) + times)
  for (const group of clients) call(group.calls, operationsOf(group.name))
  // Each is passed on once, when all who call it are known: by the single ways, there may be more of them than calls.
  for (const name of callersFirst(dependencies))
    for (const below of dependencies[name]?.downstream ?? [])
      call(below.calls, (asked.get(name) ?? 0) * (below.times ?? 1))
  return asked
}

/** All dependencies, each after whoever calls it. */
function callersFirst(dependencies: Scenario['dependencies']): readonly string[] {
  const calledFirst = new Set<string>()
  const visit = (name: string): void => {
    if (calledFirst.has(name)) return
    for (const { calls } of dependencies[name]?.downstream ?? []) visit(calls)
    calledFirst.add(name)
  }
  for (const name of Object.keys(dependencies)) visit(name)
  return [...calledFirst].toReversed()
}
