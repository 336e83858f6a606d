import {
  aFunction,
  anObject,
  checkFields,
  flag,
  isRecord,
  oneOf,
  text,
  type FieldCheck,
  type Fields,
  type Problem,
  type WrongWords,
} from '../check/problems.ts'
import { newIdempotencyKey } from '../ports/random.ts'
import type { RetryOptions } from '../retry/options.ts'
import { InvalidOptionError } from './errors.ts'

/** What surrounds all calls of one client and is no part of the policy, whatever makes the calls. */
export interface WireOptions<R> extends Pick<
  RetryOptions<R>,
  'name' | 'budget' | 'breaker' | 'classify' | 'curve' | 'lastAttempt' | 'telemetry' | 'ports'
> {
  /** Whether `Retry-Attempt` and `X-Timeout-Ms` are sent. */
  readonly sendHeaders?: boolean
  /** `allow`: retried also inside of an attempt of another operation, where each of its attempts is multiplied. */
  readonly nested?: 'allow'
}

/** What one call may say of itself. */
export interface CallWords {
  /** Sent as `Idempotency-Key`, the same on every attempt: a key of your own, or `true` to have one made. */
  readonly idempotencyKey?: string | true | undefined
  /** Your word that the call may be repeated, or that it may not; else its method and its key tell. */
  readonly idempotent?: boolean | undefined
}

export const WIRE_FIELDS: { readonly [option in keyof WireOptions<unknown>]-?: FieldCheck } = {
  name: text(200),
  budget: value => (value === false || isRecord(value) ? undefined : 'a budget, or false'),
  breaker: anObject,
  classify: aFunction,
  curve: aFunction,
  lastAttempt: oneOf('if-it-fits', 'always'),
  telemetry: aFunction,
  ports: anObject,
  sendHeaders: flag,
  nested: oneOf('allow'),
}

/** Throws if `maker`, the function that makes a client, was given something it cannot use. */
export function checkOptions(maker: string, options: unknown, fields: Fields, wrongWords: WrongWords = {}): void {
  const problems = isRecord(options)
    ? checkFields(options, fields, { ...wrongWordsOf(maker), ...wrongWords })
    : [{ at: 'options', is: options, say: 'must be an object' }]
  refuse(`${maker} cannot use its options`, problems)
}

/** The key that the call is sent with, if any. Throws if the call says something that is no answer. */
export function keyOf({ idempotencyKey, idempotent }: CallWords, header: string | null): string | undefined {
  const problems = checkFields({ idempotencyKey, idempotent }, { idempotencyKey: KEY, idempotent: flag })
  if (typeof idempotencyKey === 'string' && header && header !== idempotencyKey)
    problems.push({ at: 'idempotencyKey', is: idempotencyKey, say: `contradicts the header, "${header}"` })
  refuse('the call cannot be made', problems)
  const given = header || undefined
  return idempotencyKey === true ? (given ?? newIdempotencyKey()) : (idempotencyKey ?? given)
}

/** One key for all calls would make the server answer every call with the first one's result. */
const MADE_KEY_WORDS: readonly unknown[] = ['auto', 'true']

const KEY: FieldCheck = value => {
  if (MADE_KEY_WORDS.includes(value)) return 'true, without quotes, to have a key made for the call'
  if (value === true || (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value))) return undefined
  return 'a text of 1 to 255 visible ASCII characters, or true to have one made'
}

function refuse(say: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw new InvalidOptionError(say, problems)
}

function wrongWordsOf(maker: string): WrongWords {
  return {
    maxAttempts: `${maker}({ maxAttempts }): the policy is the first argument`,
    retries: `${maker}({ maxAttempts }): it counts all calls, retries + 1`,
    timeout: `${maker}({ attemptTimeoutMs, totalBudgetMs })`,
  }
}
