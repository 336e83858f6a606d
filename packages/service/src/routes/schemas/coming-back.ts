/** The way back of what was held, as it is asked for and shown: by resume now, or when a pause or a control ends by itself. */
import type { Problem } from '@secondwind/resilience'
import { Type, type TSchema } from 'typebox'
import type { ComingBack } from '../../task/destination-settings.ts'
import { WATCHED_RAMP_MS } from '../../task/stop-rule.ts'
import { durationField } from './fields.ts'

/** Enough for a share to say something. */
const DEFAULT_OVER_LAST = 50

export const COMING_BACK: { readonly [field in keyof ComingBack]-?: TSchema } = {
  rampMs: Type.Optional(
    durationField('The whole limit is there after so long; left out, it doubles every two seconds.'),
  ),
  stopOnFailureRate: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Pause again when such a part of the last attempts failed.',
    }),
  ),
  overLast: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: DEFAULT_OVER_LAST,
      description: 'Which attempts are the last.',
    }),
  ),
}

export const SHOWN_COMING_BACK: typeof COMING_BACK = {
  rampMs: Type.Optional(Type.Integer()),
  stopOnFailureRate: Type.Optional(Type.Number()),
  overLast: Type.Optional(Type.Integer()),
}

/** Under a rule, with what goes without saying. */
export function comingBackOf({ rampMs, stopOnFailureRate, overLast }: ComingBack): ComingBack {
  if (stopOnFailureRate === undefined) return rampMs === undefined ? {} : { rampMs }
  return { rampMs: rampMs ?? WATCHED_RAMP_MS, stopOnFailureRate, overLast: overLast ?? DEFAULT_OVER_LAST }
}

/** What ends only by a word comes back as that word says. */
export function checkComingBack(input: ComingBack, { hasEnd, ends }: { hasEnd: boolean; ends: string }): Problem[] {
  if (hasEnd) return []
  return (['rampMs', 'stopOnFailureRate', 'overLast'] as const).flatMap(at =>
    input[at] === undefined
      ? []
      : [{ at, is: input[at], say: `goes with ${ends}: it says how it comes back by itself` }],
  )
}
