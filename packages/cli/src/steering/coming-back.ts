import type { Problem } from '@secondwind/resilience'
import type { GivenOptions, Option } from '../command.ts'
import { instantToCome } from '../input/read-instant.ts'
import { duration, exclusionProblems, optional, wholeNumber, type Reader } from '../input/read-options.ts'
import { share } from '../input/read-share.ts'

const LONGEST_MS = 30 * 86_400_000

/** How what was held comes back: by resume now, or when its time is over. */
export const RAMP_OPTION: Option = {
  flag: '--ramp <duration>',
  say: 'from one request at once to all of its limit in so long; else it doubles every two seconds',
}

export const RAMP_READER: Reader<number | undefined> = optional(duration(1, LONGEST_MS))

/** Of a resume alone. */
export const STOP_RULE_OPTIONS: readonly Option[] = [
  { flag: '--stop-on-failure-rate <share>', say: 'pause it again when such a part fails on the way, as 20%' },
  { flag: '--over-last <number>', say: 'of so many of the last attempts (50)' },
]

export const STOP_RULE_READERS: {
  readonly stopOnFailureRate: Reader<number | undefined>
  readonly overLast: Reader<number | undefined>
} = { stopOnFailureRate: optional(share), overLast: optional(wholeNumber(1, 1_000)) }

/** When what is stopped goes on by itself. */
export const END_OPTIONS: readonly Option[] = [
  { flag: '--for <duration>', say: 'it ends by itself after so long' },
  { flag: '--until <time>', say: 'it ends by itself then' },
]

export function endReaders(now: number): {
  readonly for: Reader<number | undefined>
  readonly until: Reader<number | undefined>
} {
  return { for: optional(duration(1, LONGEST_MS)), until: optional(instantToCome(now)) }
}

export function endProblems(options: GivenOptions): Problem[] {
  return exclusionProblems(options, ['for', 'until'])
}
