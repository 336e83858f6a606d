import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'

/**
 * As with `fetch` itself, the caller's signal also ends the reading of a body. But an operation lets go of that signal
 * when it has its answer, and the signal may live as long as the program: nothing of a response may stay with it.
 *
 *  1. The signal knows the controller weakly; what keeps the controller is the body, as long as somebody has it.
 *  2. The signal is let go as soon as the body was read by one of the response's own methods.
 *  3. A body that is read as a stream, or never, lets go when it is collected: streams do not tell when they end.
 */
export function abortBodyWith(signal: AbortSignal, response: Response, controller: AbortController): void {
  const { body } = response
  if (typeof body !== 'object' || body === null) return
  // Aborted between the answer and now, when nobody followed it.
  if (signal.aborted) return controller.abort(signal.reason)
  const follower = new BodyFollower(signal, controller)
  followSignal(signal, follower)
  controllerOf.set(body, controller)
  collected.register(body, follower, follower)
  for (const method of WHOLE_BODY_METHODS) releaseAfter(method, response, body, follower)
}

class BodyFollower implements SignalFollower {
  readonly #signal: AbortSignal
  readonly #controller: WeakRef<AbortController>

  constructor(signal: AbortSignal, controller: AbortController) {
    this.#signal = signal
    this.#controller = new WeakRef(controller)
  }

  onAbort(reason: unknown): void {
    this.#controller.deref()?.abort(reason)
    collected.unregister(this)
  }

  release(): void {
    unfollowSignal(this.#signal, this)
    collected.unregister(this)
  }
}

const controllerOf = /* @__PURE__ */ new WeakMap<ReadableStream, AbortController>()

const collected = /* @__PURE__ */ new FinalizationRegistry<BodyFollower>(follower => follower.release())

const WHOLE_BODY_METHODS = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const

type WholeBodyMethod = (typeof WHOLE_BODY_METHODS)[number]

/** The method of this one response, so that neither its class nor anybody else's response changes. */
function releaseAfter(method: WholeBodyMethod, response: Response, body: ReadableStream, follower: BodyFollower): void {
  const original = response[method] as (() => Promise<unknown>) | undefined
  if (original === undefined) return
  const read = (): Promise<unknown> => {
    // Whoever comes second is refused, and ends nothing.
    const isReader = !response.bodyUsed && !response.body?.locked
    const reading = original.call(response)
    const release = (): void => {
      controllerOf.delete(body)
      follower.release()
    }
    if (isReader) reading.then(release, release)
    return reading
  }
  Object.defineProperty(response, method, { value: read, configurable: true, writable: true })
}
