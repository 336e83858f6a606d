import type { ComingBack } from '@secondwind/client'
import type { GivenOptions, Option } from '../command.ts'
import { given } from '../input/given.ts'
import { duration, optional, readOptions, wholeNumber } from '../input/read-options.ts'
import { share } from '../input/read-share.ts'

const LONGEST_MS = 30 * 86_400_000

/** How what was held comes back: by resume now, or when its time is over. */
export const COMING_BACK_OPTIONS: readonly Option[] = [
  {
    flag: '--ramp <duration>',
    say: 'from one request at once to all of its limit in so long; else it doubles every two seconds',
  },
  { flag: '--stop-on-failure-rate <share>', say: 'pause it again when such a part fails on the way, as 20%' },
  { flag: '--over-last <number>', say: 'of so many of the last attempts (50)' },
]

export function comingBackOf(options: GivenOptions): ComingBack {
  const { ramp, stopOnFailureRate, overLast } = readOptions(options, {
    ramp: optional(duration(1, LONGEST_MS)),
    stopOnFailureRate: optional(share),
    overLast: optional(wholeNumber(1, 1_000)),
  })
  return given({ rampMs: ramp, stopOnFailureRate, overLast })
}
