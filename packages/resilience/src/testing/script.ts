import {
  checkFields,
  isRecord,
  numberBetween,
  oneOf,
  wholeNumber,
  type Fields,
  type Problem,
} from '../check/problems.ts'
import { refuseProblems } from './errors.ts'

/**
 * What a scripted server does with one request. As a line, in this order and each part optional but the middle one:
 * `slow 200ms`, then a status, `reset` or `hang`, then headers as `name=value` or `name="a value"`, then the body.
 *
 *   '503 retry-after=1'   'reset'   'hang'   'slow 200ms 200'   '200 {"ok":true}'
 */
export type ScriptEntry = string | ScriptedAnswer

/** The same as data. With `ending` alone nothing is answered; with an answer, it breaks off after the body. */
export interface ScriptedAnswer {
  /** 200 unless told. */
  readonly status?: number
  readonly headers?: { readonly [name: string]: string }
  /** A text or bytes, sent as they are; anything else is sent as JSON. */
  readonly body?: unknown
  readonly delayMs?: number
  /** `reset`: the connection is lost. `hang`: nothing more ever comes. */
  readonly ending?: 'reset' | 'hang'
}

/** An entry, checked: what comes, and after how long. */
export type Scene =
  | { readonly kind: 'answer'; readonly delayMs: number; readonly answer: Answer }
  | { readonly kind: 'reset' | 'hang'; readonly delayMs: number; readonly answer: Answer | undefined }

export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string | Uint8Array | undefined
}

export interface RecordedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** By their names in lower case. */
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** When it was complete, on the clock's elapsed time. */
  readonly at: number
}

/** Records a request, and says what it is answered. */
export type TakeScene = (request: Omit<RecordedRequest, 'at'>) => Scene

/** All entries checked, or everything that is wrong with them. */
export function readScript(script: readonly ScriptEntry[], whenDone: ScriptEntry | undefined): Scene[] {
  const entries = whenDone === undefined ? script : [...script, whenDone]
  const problems = entries.flatMap((entry, index) => problemsOf(entry, index < script.length ? `${index}` : 'whenDone'))
  if (entries.length === 0) problems.push({ at: 'script', is: script, say: 'must have an entry, or a whenDone' })
  refuseProblems('the script', problems)
  return entries.map(entry => (typeof entry === 'string' ? sceneOfLine(entry)! : sceneOfAnswer(entry)))
}

function problemsOf(entry: unknown, at: string): Problem[] {
  if (isRecord(entry)) return problemsOfAnswer(entry, at)
  if (typeof entry !== 'string') return [{ at, is: entry, say: 'must be a line or an object' }]
  const scene = sceneOfLine(entry)
  if (scene === undefined) return [{ at, is: entry, say: `must read like ${EXAMPLES}` }]
  return scene.answer === undefined ? [] : problemsOfAnswer(scene.answer, at)
}

function problemsOfAnswer(answer: ScriptedAnswer, at: string): Problem[] {
  const problems = checkFields(answer, FIELDS, {}, `${at}.`)
  const { status, body, ending } = answer
  if (EMPTY_STATUSES.includes(status) && (body !== undefined || ending !== undefined))
    problems.push({ at: `${at}.status`, is: status, say: 'has no body that could be sent or break off' })
  return problems
}

const EXAMPLES = `'503 retry-after=1', 'reset', 'hang', 'slow 200ms 200' or '200 {"ok":true}'`

/** RFC 9110 §6.4.1: these have no content, and `Response` refuses them one. */
const EMPTY_STATUSES: readonly unknown[] = [204, 205, 304]

const FIELDS: Fields = {
  // A 1xx is no answer but a promise of one.
  status: wholeNumber(200, 599),
  headers: value =>
    isRecord(value) && Object.values(value).every(text => typeof text === 'string') ? undefined : 'texts by name',
  body: () => undefined,
  delayMs: numberBetween(0, 2 ** 31),
  ending: oneOf('reset', 'hang'),
}

const LINE =
  /^(?:slow (?<delay>\d{1,9})ms +)?(?:(?<ending>reset|hang)|(?<status>\d{3})(?<headers>(?: +[\w-]+=(?:"[^"]*"|\S+))*)(?: +(?<body>\S.*))?)$/s
const HEADER = /([\w-]+)=(?:"([^"]*)"|(\S+))/g

function sceneOfLine(line: string): Scene | undefined {
  const parts = LINE.exec(line.trim())?.groups
  if (parts === undefined) return undefined
  const delayMs = Number(parts.delay ?? 0)
  if (parts.ending !== undefined) return { kind: parts.ending as 'reset' | 'hang', delayMs, answer: undefined }
  const headers = Array.from((parts.headers ?? '').matchAll(HEADER), ([, name, quoted, bare]) => [
    name!,
    quoted ?? bare!,
  ])
  return { kind: 'answer', delayMs, answer: answerOf(Number(parts.status), Object.fromEntries(headers), parts.body) }
}

function sceneOfAnswer({ status, headers, body, delayMs = 0, ending }: ScriptedAnswer): Scene {
  const isSilent = status === undefined && headers === undefined && body === undefined
  const answer = ending !== undefined && isSilent ? undefined : answerOf(status ?? 200, headers ?? {}, body)
  if (ending !== undefined) return { kind: ending, delayMs, answer }
  return { kind: 'answer', delayMs, answer: answer! }
}

function answerOf(status: number, given: { readonly [name: string]: string }, body: unknown): Answer {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  if (body === undefined || body instanceof Uint8Array) return { status, headers, body }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body !== 'string' || isJson(body) ? 'application/json' : 'text/plain;charset=UTF-8'
  return { status, headers: { 'content-type': type, ...headers }, body: text }
}

function isJson(text: string): boolean {
  try {
    return isRecord(JSON.parse(text)) || text.trimStart().startsWith('[')
  } catch {
    return false
  }
}
