import type { Clock } from '../ports/clock.ts'
import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'
import type { Answer, Scene, TakeScene } from './script.ts'

/** What callers and adapters need of `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Paths without a host are welcome: there is only one server. */
const BASE_URL = 'http://scripted.test'

/** `fetch` as a script would have it: real requests and responses, no network, errors like those of Node. */
export function scriptedFetch(take: TakeScene, clock: Clock): Fetch {
  return async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
    signal?.throwIfAborted()
    // Without the signal: a request listens to it for as long as it lives, which looks like a leak, and is one.
    const request = new Request(input instanceof Request ? input : new URL(input, BASE_URL), { ...init, signal: null })
    const body = await request.text()
    signal?.throwIfAborted()
    const scene = take({ method: request.method, path: pathOf(request), headers: headersOf(request), body })
    if (scene.delayMs > 0) await clock.sleep(scene.delayMs, signal)
    signal?.throwIfAborted()
    return play(scene, request.method, signal)
  }
}

function play({ kind, answer }: Scene, method: string, signal: AbortSignal | undefined): Response | Promise<Response> {
  if (answer !== undefined && method === 'HEAD') return new Response(null, answer)
  if (kind === 'answer') return new Response(answer.body as BodyInit | undefined, answer)
  if (answer !== undefined) return new Response(brokenBody(kind, answer, signal), answer)
  if (kind === 'reset') throw connectionLost('fetch failed')
  return new Promise((_, reject) => {
    if (signal !== undefined) followSignal(signal, { onAbort: reject })
  })
}

/** A body that comes to no end: what there is of it, and then a loss, or silence until somebody has had enough. */
function brokenBody(kind: 'reset' | 'hang', { body }: Answer, signal: AbortSignal | undefined): ReadableStream {
  let follower: SignalFollower | undefined
  let isSent = body === undefined
  return new ReadableStream({
    start(controller) {
      if (kind === 'reset' || signal === undefined) return
      follower = { onAbort: reason => controller.error(reason) }
      followSignal(signal, follower)
    },
    pull(controller) {
      // In two pulls: an error at once would throw away what is waiting to be read.
      if (!isSent) controller.enqueue(typeof body === 'string' ? new TextEncoder().encode(body) : body)
      else if (kind === 'reset') controller.error(connectionLost('terminated'))
      else return new Promise<void>(() => {})
      isSent = true
      return undefined
    },
    cancel() {
      if (follower !== undefined) unfollowSignal(signal!, follower)
    },
  })
}

function connectionLost(message: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })
}

function pathOf({ url }: Request): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function headersOf(request: Request): { readonly [name: string]: string } {
  const headers: { [name: string]: string } = {}
  request.headers.forEach((value, name) => (headers[name] = value))
  return headers
}
