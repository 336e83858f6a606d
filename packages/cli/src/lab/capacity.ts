import { usageFailure } from '../failure.ts'

export interface LoadAndCapacity {
  readonly loadPerSecond: number
  readonly capacityPerSecond: number
}

/** One says nothing without the other. */
export function bothOrNeither(load: number | undefined, capacity: number | undefined): LoadAndCapacity | undefined {
  if (load !== undefined && capacity !== undefined) return { loadPerSecond: load, capacityPerSecond: capacity }
  if (load === undefined && capacity === undefined) return undefined
  const [given, missing] = load === undefined ? ['--capacity', '--load'] : ['--load', '--capacity']
  throw usageFailure({
    code: 'missing-option',
    what: `${given} needs ${missing}`,
    because: ['Only their ratio says how much room there is.'],
    next: [`add  ${missing} 500/s`],
  })
}
