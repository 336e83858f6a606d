import type { Problem } from '@secondwind/resilience'
import type { GivenOptions } from '../command.ts'
import { usageFailure } from '../failure.ts'

export interface LoadAndCapacity {
  readonly loadPerSecond: number
  readonly capacityPerSecond: number
}

/** One says nothing without the other. */
export function bothOrNeither(load: number | undefined, capacity: number | undefined): LoadAndCapacity | undefined {
  if (load !== undefined && capacity !== undefined) return { loadPerSecond: load, capacityPerSecond: capacity }
  const [alone] = aloneProblems({ load: load?.toString(), capacity: capacity?.toString() })
  if (alone === undefined) return undefined
  throw usageFailure({
    code: 'missing-option',
    what: `${alone.at} ${alone.say}`,
    because: ['Only their ratio says how much room there is.'],
    next: [`add  ${otherOf(alone.at)} 500/s`],
  })
}

/** The same among other problems. */
export function aloneProblems({ load, capacity }: GivenOptions): Problem[] {
  if ((load === undefined) === (capacity === undefined)) return []
  const at = load === undefined ? '--capacity' : '--load'
  return [{ at, is: load ?? capacity, say: `needs ${otherOf(at)}` }]
}

function otherOf(flag: string): string {
  return flag === '--load' ? '--capacity' : '--load'
}
