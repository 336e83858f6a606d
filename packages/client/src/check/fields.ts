/** What the fields of this package take, beyond what every document is checked by. */
import type { Problem } from '@secondwind/resilience'
import { InvalidOptionError } from '@secondwind/resilience/fetch'
import { check } from '@secondwind/resilience/rules'
import { redactProblem } from '../secrets.ts'

/** Throws everything that is wrong, before anything is sent. */
export function refuse(say: string, problems: readonly Problem[]): void {
  if (problems.length > 0) throw refusal(say, problems)
}

/** What is told of a problem may be logged: no secret is repeated. */
export function refusal(say: string, problems: readonly Problem[]): InvalidOptionError {
  return new InvalidOptionError(say, problems.map(redactProblem))
}

/** Throws if a single argument is not what it should be. */
export function refuseUnless(fieldCheck: check.FieldCheck, at: string, is: unknown, say: string): void {
  const wanted = fieldCheck(is)
  refuse(say, wanted === undefined ? [] : [{ at, is, say: `must be ${wanted}` }])
}

/** Without credentials: `fetch` refuses them, and they would stand in logs. */
export function isHttpUrl(value: unknown): boolean {
  try {
    const { protocol, username, password } = new URL(String(value))
    return /^https?:$/.test(protocol) && username === '' && password === ''
  } catch {
    return false
  }
}

export const ANY_TEXT: check.FieldCheck = value => (typeof value === 'string' ? undefined : 'a text')

export const TEXT_BY_NAME: check.FieldCheck = value =>
  check.isRecord(value) && Object.values(value).every(text => typeof text === 'string')
    ? undefined
    : 'an object of texts by name'

/** Not by its class: another realm, or a polyfill, has one of its own. */
export const SIGNAL: check.FieldCheck = value =>
  typeof (Object(value) as Partial<AbortSignal>).addEventListener === 'function' ? undefined : 'an AbortSignal'

/** Before 1973 an instant was given in seconds by mistake. */
export const INSTANT: check.FieldCheck = value =>
  Number.isInteger(value) && check.numberBetween(1e11, 8.64e15)(value) === undefined
    ? undefined
    : 'an instant in whole milliseconds since the epoch'

/** Names become part of a path: one that leads somewhere else is none. */
export const UUID: check.FieldCheck = value =>
  typeof value === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value)
    ? undefined
    : 'a UUID in small letters'

export const TASK_ID: check.FieldCheck = value => UUID(value) && 'the taskId of a task: a UUID in small letters'

export const BODY_REF: check.FieldCheck = value =>
  typeof value === 'string' && /^sha256-[\da-f]{64}$/.test(value)
    ? undefined
    : 'the bodyRef of a body: sha256- and 64 digits'

export const IDEMPOTENCY_KEY: check.FieldCheck = value =>
  typeof value === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'a key of 1 to 255 visible ASCII characters, perhaps with spaces between them'

/** Neither an origin nor a name has an `@`: before it stands a password, which is not sent. */
export const DESTINATION: check.FieldCheck = value =>
  check.text(8_192)(value) ??
  (String(value).includes('@')
    ? 'the origin of a target, such as https://api.example, or the name of a destination, without credentials'
    : undefined)

export const POLICY_ID: check.FieldCheck = value =>
  typeof value === 'string' && /^(?!\.{1,2}$)[\w.-]{1,100}$/.test(value)
    ? undefined
    : 'a name of 1 to 100 letters, digits, dots, dashes and underscores'
