import type { Verdict } from '../report/report.ts'
import { sayMs, sayNumber, sayShare, sayTimes } from '../plots/format.ts'
import type { Reading } from './reading.ts'

/** Less than a hundredth of the operations is not worth a storm. */
const WORTH_POINTS = 1
/** Up to a fifth more calls is what a dependency has to bear anyway. */
const CHEAP_AMPLIFICATION = 1.2

/** What retries did, compared with a world in which every call is made once. */
export function verdictOf(reading: Reading, once: Reading): Verdict {
  const { peakTimes, overCapacityMs, isMetastable, amplification } = reading
  const points = 100 * (reading.servedShare - once.servedShare)
  const added = (overCapacityMs ?? 0) - (once.overCapacityMs ?? 0)
  const within = overCapacityMs === undefined ? '' : ', within the capacity'
  if (isMetastable && !once.isMetastable)
    return { kind: 'bad', say: 'The trouble is over and the collapse stays: retries alone keep the dependency down.' }
  const saved = `${sayShare(once.servedShare)} succeed without retries, ${sayShare(reading.servedShare)} with them`
  if (added > 0 && points < WORTH_POINTS)
    return {
      kind: 'bad',
      say: `These retries make the peak ${sayTimes(peakTimes)} as high and save almost nothing: ${saved}.`,
    }
  if (added > 0)
    return {
      kind: 'bad',
      say: `Retries save ${sayNumber(points)} in a hundred operations, and push the dependency over its capacity for ${sayMs(added)}: ${saved}.`,
    }
  if (points >= WORTH_POINTS)
    return {
      kind: 'good',
      say: `Retries save ${sayNumber(points)} in a hundred operations for ${sayTimes(amplification)} the calls${within}: ${saved}.`,
    }
  return amplification <= CHEAP_AMPLIFICATION
    ? {
        kind: 'good',
        say: `These retries do no harm, ${sayTimes(amplification)} the calls, and change little: ${saved}.`,
      }
    : { kind: 'neither', say: `These retries make ${sayTimes(amplification)} the calls and change little: ${saved}.` }
}
