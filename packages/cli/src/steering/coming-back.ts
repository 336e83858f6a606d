import type { ComingBack } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { GivenOptions, Option } from '../command.ts'
import { given } from '../input/given.ts'
import { instantToCome } from '../input/read-instant.ts'
import { duration, exclusionProblems, optional, wholeNumber, type Reader } from '../input/read-options.ts'
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

interface Typed {
  readonly ramp: number | undefined
  readonly stopOnFailureRate: number | undefined
  readonly overLast: number | undefined
}

export const COMING_BACK_READERS: { readonly [Name in keyof Typed]: Reader<Typed[Name]> } = {
  ramp: optional(duration(1, LONGEST_MS)),
  stopOnFailureRate: optional(share),
  overLast: optional(wholeNumber(1, 1_000)),
}

export function comingBackOf({ ramp, stopOnFailureRate, overLast }: Typed): ComingBack {
  return given({ rampMs: ramp, stopOnFailureRate, overLast })
}

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
