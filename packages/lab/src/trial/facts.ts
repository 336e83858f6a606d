import { sayMs, sayNumber, sayRate, sayShare, sayTimes } from '../plots/format.ts'
import type { Fact } from '../report/report.ts'
import { estimate, meanReading, sayMissing } from './over-seeds.ts'
import type { Measure, Reading } from './reading.ts'

/** A world with every seed, and the same one in which every call is made once; all of them seen at one dependency. */
export interface Trial {
  readonly dependency: string
  readonly readings: readonly Reading[]
  readonly once: readonly Reading[]
  /** The first of them; the others follow it one by one. */
  readonly seed: number
}

/** What a verdict rests on, in numbers; over several seeds as means with the range in which the true one lies. */
export function factsOf({ dependency, readings, once, seed }: Trial): readonly Fact[] {
  const mean = meanReading(readings)
  const say: Say = (measure, show) => sayEstimate(readings, measure, show)
  return [
    { name: `peak at ${dependency}`, value: say('peakPerSecond', sayRate), note: sayPeak(mean) },
    { name: 'calls per operation', value: say('amplification', sayNumber) },
    {
      name: 'served',
      value: say('servedShare', sayShare),
      note: `${sayShare(meanReading(once).servedShare)} without retries`,
    },
    ...(mean.unended > 0
      ? [{ name: 'never ended', value: say('unended', sayNumber), note: 'operations; they count as not served' }]
      : []),
    { name: 'goodput', value: say('goodputPerSecond', sayRate) },
    {
      name: 'longest queue',
      value: mean.overCapacityMs === undefined ? 'none' : say('longestQueue', sayNumber),
      note: `${sayShare(mean.wastedShare)} of the work was for nobody`,
    },
    ...timesOf(mean, say),
    ...(mean.hadTrouble ? [{ name: 'recovered', value: sayRecovery(readings) }] : []),
    {
      name: 'seed',
      value: readings.length === 1 ? String(seed) : `${readings.length} of them, with 95 % confidence`,
    },
  ]
}

type Say = (measure: Measure, show: (value: number) => string) => string

/** Nothing where nobody was served. */
function timesOf({ p99Ms, deviationMs }: Reading, say: Say): readonly Fact[] {
  if (p99Ms === undefined || deviationMs === undefined) return []
  return [
    {
      name: 'of those served',
      value: `half within ${say('p50Ms', sayMs)}`,
      note: `99 in 100 within ${sayMs(p99Ms)}`,
    },
    { name: 'on average', value: say('meanMs', sayMs), note: `standard deviation ${sayMs(deviationMs)}` },
  ]
}

function sayEstimate(readings: readonly Reading[], measure: Measure, show: (value: number) => string): string {
  const found = estimate(readings, measure)
  if (found === undefined) return sayMissing(readings, measure)
  const [low, high] = [show(Math.max(0, found.low)), show(found.high)]
  return low === high ? show(found.mean) : `${show(found.mean)} (${low} to ${high})`
}

function sayRecovery(readings: readonly Reading[]): string {
  const found = estimate(readings, 'recoveredAfterMs')
  if (found?.mean === 0) return 'at once'
  return `${found === undefined ? '' : 'after '}${sayEstimate(readings, 'recoveredAfterMs', sayMs)}`
}

function sayPeak({ peakTimes, overCapacityMs }: Reading): string {
  const times = `${sayTimes(peakTimes)} that without retries`
  if (overCapacityMs === undefined) return times
  return overCapacityMs > 0
    ? `${times}, over its capacity for ${sayMs(overCapacityMs)}`
    : `${times}, never over its capacity`
}
