/** What the service refused, or did not answer, in four parts and with the exit code that a script can go by. */
import { InvalidOptionError, ServiceError, UnreachableError, type ServiceErrorCode } from '@secondwind/client'
import { historyOf, ResilienceError } from '@secondwind/resilience'
import { sayMs } from '@secondwind/lab'
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts'
import { Failure, problemsFailure, sayProblem } from '../failure.ts'
import { readsInput, typedWith } from '../input/typed.ts'
import { sayCount } from '../output/say-count.ts'
import { DEFAULT_URL, isNear } from './connection.ts'
import { inFlags, isOnlyCount, isToldBy } from './in-flags.ts'
import { nextLines, type Asked as AskedLine } from './next-lines.ts'

type Asked = AskedLine & {
  readonly isChange: boolean
  /** The tenant that alone was asked, where somebody else may have what was not found. */
  readonly onlyAsked?: string | undefined
}

const UNCHANGED = 'Nothing was changed.'
const UNKNOWN = 'Whether it was done nobody knows: look before you try again.'

/** The failure that tells it; whatever is none of these is thrown on as it is. */
export function asFailure(error: unknown, asked: Asked): unknown {
  if (error instanceof UnreachableError) return unreachable(error, asked)
  if (error instanceof ServiceError) return refused(error, asked)
  if (error instanceof InvalidOptionError) return unsendable(error, asked)
  if (error instanceof ResilienceError && error.code === 'unexpected-answer') return unreadable(error.message, asked)
  if (isMadeUp(error)) return unreadable(placeOf(error), asked)
  return error
}

/** What comes of an answer that has the fields of one, and not their kind: an instant that is none, null in a list. */
export function isMadeUp(error: unknown): error is TypeError | RangeError {
  return error instanceof TypeError || error instanceof RangeError
}

/** It has the fields of an answer, and not their kind: nobody but a service of ours is trusted to send what it should. */
function unreadable(because: string, { url, isChange, typed }: Asked): Failure {
  return new Failure({
    code: 'unexpected-answer',
    what: `what ${url} answers cannot be read`,
    because: [because, 'It is no Secondwind service, or one of another version than this program.'],
    so: isChange ? UNKNOWN : UNCHANGED,
    next: [typed('doctor')],
  })
}

/** For whoever mends it, should the program be wrong and not the answer. */
function placeOf({ stack = '', message }: Error): string {
  const [, place = ''] = stack.split('\n')
  return `${message}, ${place.trim()}`
}

/** A name that can be none of its kind is one that is not there, and else there is something to mend. */
function unsendable({ message, problems }: InvalidOptionError, asked: Asked): Failure {
  const [, noun] = /^there is no such (\w+)/.exec(message) ?? []
  if (noun === undefined)
    return problemsFailure(
      { code: 'invalid-request', what: 'the service would refuse this' },
      problems.map(problem => inFlags(problem, asked.options)),
    )
  const code = `${noun}-not-found` as ServiceErrorCode
  const detail = problems.map(sayProblem).join('; ')
  return refused(new ServiceError({ asked: '', status: 404, code, detail, problems: [] }), asked)
}

function unreachable(error: UnreachableError, asked: Asked): Failure {
  const { url, hasKey, isChange, typed } = asked
  const { code } = deepest(error)
  const isUnsent = code === 'ECONNREFUSED' || code === 'ENOTFOUND' || speaksNoTls(error)
  return new Failure({
    code: 'unreachable',
    what: `no service answers at ${url}`,
    because: [whyUnreachable(error, url)],
    so: isChange && !isUnsent ? UNKNOWN : UNCHANGED,
    next: [
      ...(speaksNoTls(error) ? withoutTls(asked) : []),
      typed('doctor'),
      ...(url === DEFAULT_URL ? elsewhere(hasKey) : []),
    ],
    exitCode: EXIT_CODES.unavailable,
  })
}

function whyUnreachable(error: UnreachableError, url: string): string {
  const { code, message } = deepest(error)
  // Said by fetch itself, of ports that belong to other protocols.
  if (message === 'bad port') return `Port ${new URL(url).port} is one that HTTP is never spoken on: nothing was sent.`
  if (speaksNoTls(error)) return `What listens there does not speak TLS (${code}): perhaps http:// was meant.`
  return `${code ?? message} after ${sayCount(historyOf(error.cause)?.attempts ?? 1, 'attempt')}.`
}

/** Its first bytes were no TLS: OpenSSL reads a version in them, or a length, that there is none of. */
export function speaksNoTls(error: UnreachableError): boolean {
  return /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/.test(deepest(error).code ?? '')
}

/** The same over plain HTTP; not where that would show a key to everybody on the way, or what was read is gone. */
function withoutTls({ url, hasKey, words }: Asked): readonly string[] {
  if ((hasKey && !isNear(url)) || readsInput(words)) return []
  return [typedWith(words, '--url', url.replace(/^https:/i, 'http:'))]
}

/** Where nobody said where it is: whoever has a key has a service somewhere, and all others can start one. */
function elsewhere(hasKey: boolean): readonly string[] {
  return ['export SECONDWIND_URL=https://your-service', ...(hasKey ? [] : ['secondwind dev'])]
}

/** What the socket said, below all that was said about it. */
function deepest(error: Error): { readonly code?: string; readonly message: string } {
  let found: Error & { code?: string } = error
  for (let depth = 0; depth < 10 && found.cause instanceof Error; depth++) found = found.cause
  const first = found instanceof AggregateError ? (found.errors[0] as Error & { code?: string }) : found
  return { message: first.message, ...(first.code !== undefined && { code: first.code }) }
}

function refused(error: ServiceError, asked: Asked): Failure {
  const { code, status, detail, problems, requestId, retryAfterMs, taskStatus } = error
  return new Failure({
    code,
    what: whatOf(error, asked),
    because: [
      ...(isOnlyCount(detail) && problems.length > 0 ? [] : [detail]),
      ...problems.filter(problem => !isToldBy(detail, problem)).map(one => sayProblem(inFlags(one, asked.options))),
      ...(asked.onlyAsked === undefined ? [] : [`Only tenant ${asked.onlyAsked} was asked; others: --tenant <name>.`]),
      ...(taskStatus === undefined || detail.includes(taskStatus) ? [] : [`The task is ${taskStatus}.`]),
      ...(retryAfterMs === undefined ? [] : [`It asks to come back in ${sayMs(retryAfterMs)}.`]),
      ...(requestId === undefined || status < 500 ? [] : [`Its log has more beside ${requestId}.`]),
    ],
    so: asked.isChange && mayBeDone(error) ? UNKNOWN : UNCHANGED,
    next: nextLines(error, asked),
    ...(problems.length > 0 && { problems }),
    exitCode: exitCodeOf(error),
  })
}

/** The service says 503 before it keeps anything; a proxy that says it, or a failure half-way, tells nothing. */
function mayBeDone({ status, code }: ServiceError): boolean {
  const isUnread = code === 'unexpected-answer' || code === 'answer-too-large'
  return isUnread ? status < 300 || status >= 500 : status >= 500 && status !== 503
}

function whatOf(error: ServiceError, { url, hasKey }: Asked): string {
  const { status, code } = error
  if (status === 401) return hasKey ? `${url} does not know this key` : `${url} asks for a key`
  if (status === 403) return `${url} does not allow this`
  if (code === 'unexpected-answer') return `what answers at ${url} is not a Secondwind service`
  if (code === 'answer-too-large') return `what answers at ${url} sends more than any Secondwind service`
  if (code === 'route-not-found') return `the service at ${url} does not know this request`
  if (code.endsWith('-not-found')) return `there is no such ${code.replace('-not-found', '')}`
  if (isBusy(status)) return `the service at ${url} cannot do this now`
  if (exitCodeOf(error) === EXIT_CODES.conflict) return 'this cannot be done as things are'
  return status < 500 ? 'the service refused this' : `the service failed with ${status}`
}

/** By status, but for what has a meaning of its own. */
function exitCodeOf({ status, code }: ServiceError): ExitCode {
  if (code === 'idempotency-conflict') return EXIT_CODES.conflict
  if (code.endsWith('-not-found')) return EXIT_CODES.notFound
  if (isBusy(status)) return EXIT_CODES.unavailable
  return BY_STATUS[status] ?? EXIT_CODES.failed
}

const BY_STATUS: { readonly [status: number]: ExitCode } = {
  400: EXIT_CODES.usage,
  401: EXIT_CODES.notAllowed,
  403: EXIT_CODES.notAllowed,
  404: EXIT_CODES.notFound,
  409: EXIT_CODES.conflict,
  412: EXIT_CODES.conflict,
  413: EXIT_CODES.usage,
  414: EXIT_CODES.usage,
  422: EXIT_CODES.usage,
}

/** It asks to come back later, or nobody behind a proxy answers. */
export function isBusy(status: number): boolean {
  return [408, 429, 502, 503, 504].includes(status)
}
