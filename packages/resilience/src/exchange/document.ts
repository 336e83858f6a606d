import { checkFields, isRecord, milliseconds, type FieldCheck, type Problem } from '../check/problems.ts'
import type { PipelinePolicyInput } from '../pipeline/policy.ts'

/** What one document says and the other cannot: where, what stands there, and what becomes of it. */
export type Loss = Problem

/** A policy read from somebody else's document; the paths of losses and problems are theirs. */
export type Imported =
  | {
      /** Of the pipeline, for budget and hedge are written beside the retries there; `policy.retry` is the bare one. */
      readonly policy: PipelinePolicyInput
      readonly notCarried: readonly Loss[]
      readonly problems?: undefined
    }
  | { readonly policy?: undefined; readonly notCarried?: undefined; readonly problems: readonly Problem[] }

/** A policy written as somebody else's document; the paths of losses and problems are ours. */
export type Exported<Config> =
  | { readonly config: Config; readonly notCarried: readonly Loss[]; readonly problems?: undefined }
  | { readonly config?: undefined; readonly notCarried?: undefined; readonly problems: readonly Problem[] }

/** What is found on the way through a document. */
export interface Report {
  readonly problems: Problem[]
  readonly notCarried: Loss[]
}

export type JsonObject = { readonly [field: string]: unknown }

/** What a field takes, or the words that say why it is not carried. */
export type Shape = { readonly [field: string]: FieldCheck | string }

/**
 * The fields of one object, checked. A field that nobody knows is no mistake, for their documents grow without us:
 * it is not carried. `null` is absent, as everywhere in the JSON of protobuf.
 */
export function readFields(report: Report, path: string, input: unknown, shape: Shape): JsonObject {
  const checks = Object.fromEntries(Object.entries(shape).filter(isCheck))
  if (!isRecord(input)) {
    report.problems.push({ at: path, is: input, say: `must be an object with ${Object.keys(checks).join(', ')}` })
    return {}
  }
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined))
  const at = path && `${path}.`
  for (const found of checkFields(given, checks, {}, at)) {
    const field = found.at.slice(at.length)
    const why = Object.hasOwn(shape, field) ? shape[field] : found.say
    if (typeof why === 'string') report.notCarried.push({ ...found, say: why })
    else report.problems.push(found)
  }
  return given
}

function isCheck(entry: [string, FieldCheck | string]): entry is [string, FieldCheck] {
  return typeof entry[1] === 'function'
}

/** Looked at by whoever reads it. */
export const anything: FieldCheck = () => undefined

export const list: FieldCheck = value => (Array.isArray(value) ? undefined : 'a list')

/** A list, or none where a problem was found already. */
export function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The JSON of protobuf knows seconds only: `"0.1s"`. */
export function seconds(fromMs: number): FieldCheck {
  return durationLike(/^(?:\d+(?:\.\d*)?|\.\d+)s$/, fromMs, 'a duration in seconds such as "0.1s"')
}

/** Istio takes Go's words as well: `"250ms"`, `"1m30s"`. */
export function goDuration(fromMs: number): FieldCheck {
  return durationLike(
    /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ms|[hms]|[uµn]s))+$/,
    fromMs,
    'a duration such as "250ms" or "1m30s"',
  )
}

/** Ten years in nanoseconds take twenty; whoever writes more means something else. */
const MOST_CHARACTERS = 50

/** A pattern must match in one way only: else a long text from a stranger takes a time that grows with its square. */
function durationLike(pattern: RegExp, fromMs: number, words: string): FieldCheck {
  const inRange = milliseconds(fromMs)
  const range = fromMs > 0 ? ', more than 0 and at most ten years' : ', at most ten years'
  const isDuration = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= MOST_CHARACTERS && pattern.test(value)
  return value => (isDuration(value) && !inRange(Math.ceil(toMs(value))) ? undefined : words + range)
}

/** A checked duration in whole milliseconds, 0 when absent. Rounded up: nobody is hurried, and nothing becomes 0. */
export function readMs(report: Report, at: string, duration: unknown): number {
  if (duration === undefined) return 0
  const exact = toMs(duration as string)
  const ms = Math.ceil(exact)
  if (ms > exact) report.notCarried.push({ at, is: duration, say: `is rounded up to ${ms} ms` })
  return ms
}

export function writeSeconds(ms: number): string {
  return `${ms / 1_000}s`
}

/** Without the dust of binary fractions: a hundred times 0.29 is a little less than 29. */
export function tidy(number: number): number {
  return Number(number.toPrecision(12))
}

const UNITS_MS: { readonly [unit: string]: number } = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

function toMs(duration: string): number {
  let ms = 0
  for (const [, count, unit] of duration.matchAll(/([\d.]+)(\D+)/g)) ms += Number(count) * UNITS_MS[unit!]!
  // To the nanosecond: 0.057 times a thousand is a little more than 57.
  return Number(ms.toFixed(6))
}
