import {
  checkFields,
  isRecord,
  milliseconds,
  numberBetween,
  oneOf,
  text,
  withoutUndefined,
  type Problem,
} from '../check/problems.ts'

/** From the gentlest to the strictest: each forbids what those before it forbid, and more. */
export const KILL_LEVELS = ['hedges-off', 'retries-off', 'fail-fast'] as const

export type KillLevel = (typeof KILL_LEVELS)[number]

/** Which operations: those of this name (their own, or their pipeline's), of this key, or of both; with neither, all. */
export interface KillScope {
  readonly name?: string | undefined
  readonly key?: string | undefined
}

/** One thing that is switched off, and for how long. Plain JSON. */
export interface KillOrder extends KillScope {
  readonly level: KillLevel
  /** Why, in words for whoever is refused. */
  readonly reason: string
  /** Wall time, in ms since the epoch; absent: until it is cleared. */
  readonly expiresAt?: number | undefined
}

/** What users write: an instant, or how long from now. */
export interface KillOrderInput extends KillOrder {
  readonly forMs?: number | undefined
}

/** More at once are a loop that forgot to clear. */
export const MOST_KILL_ORDERS = 1_000

export function completeOrder({ forMs, ...order }: KillOrderInput, now: number): KillOrder {
  return withoutUndefined(forMs === undefined ? order : { ...order, expiresAt: now + forMs })
}

/** All problems of an order. */
export function checkKillOrder(input: unknown): Problem[] {
  if (!isRecord(input)) return [{ at: '', is: input, say: 'must be an object with level and reason' }]
  const problems = checkFields(
    // Both must be given, and what is not given is not looked at.
    { ...input, level: input['level'] ?? null, reason: input['reason'] ?? null },
    {
      ...scopeFields(),
      level: oneOf(...KILL_LEVELS),
      reason: text(1_000),
      expiresAt: numberBetween(0, 8.64e15),
      forMs: milliseconds(1),
    },
    { until: 'expiresAt', ttl: 'forMs', ttlMs: 'forMs', message: 'reason', scope: 'name or key' },
  )
  if (input['expiresAt'] !== undefined && input['forMs'] !== undefined)
    problems.push({ at: 'forMs', is: input['forMs'], say: 'must not stand beside expiresAt: one of them' })
  return problems
}

/** All problems of a scope: a slip of the keyboard in it would mean everybody. */
export function checkKillScope(input: unknown): Problem[] {
  if (!isRecord(input)) return [{ at: '', is: input, say: "must be { name, key }, each optional, or 'all'" }]
  return checkFields(input, scopeFields())
}

function scopeFields() {
  return { name: text(200), key: text(2_000) }
}
