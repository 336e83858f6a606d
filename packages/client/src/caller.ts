import {
  askedWaitOf,
  createBudget,
  DEFAULT_BUDGET,
  RefusedError,
  systemClock,
  systemRandom,
  type Clock,
  type Random,
} from '@secondwind/resilience'
import { createFetch, type RetryingFetch, type RetryingInit } from '@secondwind/resilience/fetch'
import { check } from '@secondwind/resilience/rules'
import { anySignal } from './any-signal.ts'
import { refuseUnless } from './check/fields.ts'
import { ServiceError, UnreachableError } from './errors.ts'
import { AnswerTooLargeError, inWhole, readWhole, type Fetch } from './in-whole.ts'
import type { ClientOptions } from './options.ts'
import { DEFAULT_CLIENT_POLICY } from './policy.ts'
import { readJson } from './read-json.ts'
import type { ProblemDetails } from './wire/problem.ts'
import type { TextByName } from './wire/task.ts'

/** What one call may have of its own. */
export interface Call {
  /** Ends it at once, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** A call that changes something. */
export interface ChangeCall extends Call {
  /** The `version` that was read: if it is another by now nothing is done, and it is refused with `version-changed`. */
  readonly ifVersion?: number | undefined
}

/** Not repeated by itself: the second would meet the version that the first has made. */
export function onVersion(ifVersion: number | undefined): Pick<Ask, 'ifVersion' | 'idempotent'> {
  return { ifVersion, idempotent: ifVersion === undefined }
}

/** One question to the service. */
export interface Ask extends ChangeCall, Pick<RetryingInit, 'idempotencyKey' | 'idempotent' | 'policy'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the service's own address; what was given by a caller is checked to be a name. */
  readonly path: string
  readonly query?: object | undefined
  /** A field that every such answer has: one without it is somebody else's. */
  readonly mark: string
  /** As JSON; text and bytes are sent as they are. */
  readonly body?: unknown
  /** Of the body; JSON unless told. */
  readonly contentType?: string
}

/** A question whose answer has no end. */
export interface Open extends Pick<Ask, 'path' | 'query'> {
  readonly headers: TextByName
  readonly signal: AbortSignal
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/** Asks the service, and asks again where the library's rules allow it. */
export class Caller {
  readonly clock: Clock
  readonly random: Random
  /** Ends every call. */
  readonly signal: AbortSignal | undefined
  readonly #options: ClientOptions
  readonly #base: string
  readonly #bareFetch: Fetch
  readonly #fetch: RetryingFetch

  constructor(options: ClientOptions) {
    const { url, policy, telemetry, maxAnswerBytes, ports = {} } = options
    this.clock = ports.clock ?? systemClock
    this.random = ports.random ?? systemRandom
    this.signal = options.signal
    this.#options = options
    this.#bareFetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#base = String(new URL(url)).replace(/\/+$/, '')
    this.#fetch = createFetch(
      { ...DEFAULT_CLIENT_POLICY, ...policy },
      {
        name: 'secondwind-client',
        fetch: inWhole(this.#bareFetch, maxAnswerBytes),
        // Its own: those whose calls fail in numbers, and want to hand them over, have emptied the common one.
        budget: createBudget(DEFAULT_BUDGET, { clock: this.clock }),
        ports,
        ...(telemetry && { telemetry }),
      },
    )
  }

  async ask<Body>(ask: Ask): Promise<Body> {
    return (await this.answerTo<Body>(ask)).body
  }

  async answerTo<Body>(ask: Ask): Promise<Answer<Body>> {
    const { mark, ...sent } = ask
    const response = await this.#send(sent)
    const { status, ok } = response
    const body = readJson(await response.text())
    if (ok && isMarked(body, mark)) return { status, body: body as Body }
    throw this.#errorOf(ask, response, body)
  }

  /** An answer that is no JSON, unless it is a refusal. */
  async bytesOf(ask: Omit<Ask, 'mark'>): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.#send(ask, '*/*')
    if (!response.ok) throw this.#errorOf(ask, response, readJson(await response.text()))
    return new Uint8Array(await response.arrayBuffer())
  }

  /** An answer that has no end, piece by piece. Asked for once: whoever reads it knows when to come back. */
  async open({ path, query, headers, signal }: Open): Promise<() => Promise<Uint8Array | undefined>> {
    const ask = { method: 'GET', path } as const
    const reached = <Value>(step: Promise<Value>): Promise<Value> =>
      step.catch(error => {
        throw error instanceof AnswerTooLargeError
          ? this.#tooLarge(ask, error)
          : new UnreachableError(`GET ${path}`, this.#base, error)
      })
    const init = { redirect: 'manual', headers: this.#headersWith(headers), signal } as const
    const response = await reached(this.#bareFetch(`${this.#base}${path}${queryOf(query)}`, init))
    if (!response.ok || response.body === null)
      throw this.#errorOf(ask, response, readJson(await reached(this.#wholeTextOf(response))))
    const reader = response.body.getReader()
    return async () => (await reached(reader.read())).value
  }

  async #wholeTextOf(response: Response): Promise<string> {
    return new TextDecoder().decode(await readWhole(response, this.#options.maxAnswerBytes))
  }

  async #send(ask: Omit<Ask, 'mark'>, accept = 'application/json'): Promise<Response> {
    const { method, path, query, body, contentType = 'application/json', signal, ifVersion, ...words } = ask
    if (ifVersion !== undefined) refuseUnless(VERSION, 'ifVersion', ifVersion, 'nothing was changed')
    const ended = anySignal(signal, this.signal)
    try {
      return await this.#fetch(`${this.#base}${path}${queryOf(query)}`, {
        ...words,
        method,
        // Whoever is sent elsewhere is not talking to the service.
        redirect: 'manual',
        headers: this.#headersWith({
          accept,
          ...(body !== undefined && { 'content-type': contentType }),
          ...(ifVersion !== undefined && { 'if-match': `"${ifVersion}"` }),
        }),
        ...(body !== undefined && { body: isSentAsItIs(body) ? body : JSON.stringify(body) }),
        ...(ended && { signal: ended }),
      })
    } catch (error) {
      // The caller's own wish, or a gate: nobody has looked for the service.
      if (ended?.aborted || error instanceof RefusedError) throw error
      if (error instanceof AnswerTooLargeError) throw this.#tooLarge(ask, error)
      throw new UnreachableError(`${method} ${path}`, this.#base, error)
    }
  }

  /** Who asks, and for whom, is said with every request; what the caller set stands above all. */
  #headersWith(own: TextByName): TextByName {
    const { key, tenant, headers } = this.#options
    return {
      ...own,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(tenant !== undefined && { 'secondwind-tenant': tenant }),
      ...headers,
    }
  }

  #tooLarge({ method, path }: Pick<Ask, 'method' | 'path'>, { status, maxBytes }: AnswerTooLargeError): ServiceError {
    const detail = `${this.#base} sends more than ${maxBytes} bytes (maxAnswerBytes): is it the right address?`
    return new ServiceError({ asked: `${method} ${path}`, status, code: 'answer-too-large', detail })
  }

  #errorOf({ method, path }: Pick<Ask, 'method' | 'path'>, { status, headers }: Response, body: unknown): ServiceError {
    const asked = `${method} ${path}`
    const retryAfterMs = askedWaitOf(headers, this.clock.now())
    if (isProblem(body)) return new ServiceError({ ...body, asked, status, retryAfterMs })
    const detail = `${this.#base} does not answer like the service: is it the right address, and no proxy in between?`
    return new ServiceError({ asked, status, code: 'unexpected-answer', detail, retryAfterMs })
  }
}

const VERSION = check.wholeNumber(0, 999_999_999_999_999)

function isSentAsItIs(body: unknown): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === 'string' || body instanceof Uint8Array
}

function queryOf(query: object = {}): string {
  const text = new URLSearchParams(
    Object.entries(check.withoutUndefined(query)).map(([name, value]) => [name, String(value)]),
  ).toString()
  return text === '' ? '' : `?${text}`
}

/** Lists are read without another look: what stands in them is looked at here. */
const LISTS: readonly string[] = ['items', 'slots', 'controls']

function isMarked(body: unknown, mark: string): boolean {
  if (!check.isRecord(body) || body[mark] === undefined) return false
  const { [mark]: marked } = body
  return !LISTS.includes(mark) || (Array.isArray(marked) && marked.every(check.isRecord))
}

function isProblem(body: unknown): body is ProblemDetails {
  return check.isRecord(body) && typeof body['code'] === 'string' && typeof body['detail'] === 'string'
}
