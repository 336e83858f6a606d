import type { Verdict } from '../report/report.ts'
import { sayMs, sayNumber, sayShare, sayTimes } from '../plots/format.ts'
import type { Reading } from './reading.ts'

/** Less than a hundredth of the operations is not worth a storm. */
const WORTH_POINTS = 1
/** Up to a fifth more calls is what a dependency has to bear anyway. */
const CHEAP_AMPLIFICATION = 1.2

/** What retries did, compared with a world in which every call is made once. */
export function verdictOf(reading: Reading, once: Reading): Verdict {
  const { operations, repeatedCalls, servedShare, isMetastable } = reading
  if (operations === 0) return { kind: 'neither', say: 'Nothing was called: no operation began.' }
  if (repeatedCalls === 0)
    return { kind: 'neither', say: `No call was made twice: ${sayShare(servedShare)} of the operations succeed.` }
  if (isMetastable && !once.isMetastable)
    return { kind: 'bad', say: 'The trouble is over and the collapse stays: retries alone keep the dependency down.' }
  const gained = 100 * (servedShare - once.servedShare)
  const { kind, say } = judge(reading, once, gained)
  return {
    kind,
    say: `${say}: ${sayShare(once.servedShare)} succeed without retries, ${sayShare(servedShare)} with them.`,
  }
}

function judge({ peakTimes, overCapacityMs, amplification }: Reading, once: Reading, gained: number): Verdict {
  const over = sayOver(overCapacityMs ?? 0, once.overCapacityMs ?? 0)
  const saved = `Retries save ${sayNumber(gained)} in a hundred operations`
  const calls = sayTimes(amplification)
  if (gained <= -WORTH_POINTS)
    return { kind: 'bad', say: `Retries cost ${sayNumber(-gained)} in a hundred operations, for ${calls} the calls` }
  if (over !== undefined)
    return gained < WORTH_POINTS
      ? {
          kind: 'bad',
          say: `These retries make the peak ${sayTimes(peakTimes)} as high and save ${gained > 0 ? 'almost ' : ''}nothing`,
        }
      : { kind: 'bad', say: `${saved}, and push the dependency over its capacity for ${over}` }
  if (gained >= WORTH_POINTS)
    return { kind: 'good', say: `${saved} for ${calls} the calls${sayWithin(overCapacityMs)}` }
  return amplification <= CHEAP_AMPLIFICATION
    ? { kind: 'good', say: `These retries do no harm, ${calls} the calls, and change little` }
    : { kind: 'neither', say: `These retries make ${calls} the calls and change little` }
}

/** Of what is over its capacity no longer than without retries: the load itself may be more than it can serve. */
function sayWithin(overMs: number | undefined): string {
  if (overMs === undefined) return ''
  return overMs === 0 ? ', within the capacity' : ', and no longer over the capacity'
}

/** How much longer it is over its capacity than without retries; undefined: no longer. */
function sayOver(overMs: number, onceMs: number): string | undefined {
  if (overMs <= onceMs) return undefined
  return onceMs === 0 ? sayMs(overMs) : `${sayMs(overMs - onceMs)} more`
}
