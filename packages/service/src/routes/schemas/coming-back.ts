/** The way back of what was held, as it is asked for and shown: by resume now, or when a pause or a control ends by itself. */
import type { Problem } from '@secondwind/resilience'
import { Type, type TSchema } from 'typebox'
import type { ComingBack, StopRule } from '../../task/destination-settings.ts'
import { WATCHED_RAMP_MS } from '../../task/stop-rule.ts'
import { durationField } from './fields.ts'

/** Enough for a share to say something. */
const DEFAULT_OVER_LAST = 50

export const COMING_BACK: { readonly [field in keyof ComingBack]-?: TSchema } = {
  rampMs: Type.Optional(
    durationField('The whole limit is there after so long; left out, it doubles every two seconds.'),
  ),
}

/** Of a resume alone. */
export const STOP_RULE: { readonly [field in keyof StopRule]: TSchema } = {
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
}

export const SHOWN_STOP_RULE: typeof STOP_RULE = {
  stopOnFailureRate: Type.Optional(Type.Number()),
  overLast: Type.Optional(Type.Integer()),
}

type WatchedWay = ComingBack & Partial<StopRule>

/** Under a rule, with what goes without saying. */
export function wayBackOf({ rampMs, stopOnFailureRate, overLast }: WatchedWay): WatchedWay {
  if (stopOnFailureRate === undefined) return rampOf({ rampMs })
  return { rampMs: rampMs ?? WATCHED_RAMP_MS, stopOnFailureRate, overLast: overLast ?? DEFAULT_OVER_LAST }
}

export function rampOf({ rampMs }: { readonly rampMs?: number | undefined }): ComingBack {
  return rampMs === undefined ? {} : { rampMs }
}

/** What ends only by a word comes back as that word says. */
export function checkRamp({ rampMs }: ComingBack, { hasEnd, ends }: { hasEnd: boolean; ends: string }): Problem[] {
  if (hasEnd || rampMs === undefined) return []
  return [{ at: 'rampMs', is: rampMs, say: `goes with ${ends}: it says how it comes back by itself` }]
}
