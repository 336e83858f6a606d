import type { Door } from './admission.ts'
import type { RefusedRequest } from './decide.ts'
import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'

/** As much of hono as is needed here. */
export interface HonoMiddleware {
  (context: HonoLike, next: () => Promise<void>): Promise<Response | void>
}

interface HonoLike {
  readonly req: { readonly raw: Request }
  readonly res: Response
}

/** The visit ends when the handler has made its response: nobody tells when a body that streams has been sent. */
export function honoMiddleware(door: Door): HonoMiddleware {
  return async (context, next) => {
    const { raw } = context.req
    if (raw.signal.aborted) return new Response(GONE.body, GONE)
    const { pathname, search } = new URL(raw.url)
    const arriving = { url: pathname + search, headers: raw.headers, key: raw }
    let answer: (refused: RefusedRequest | undefined) => void
    const answered = new Promise<RefusedRequest | undefined>(resolve => (answer = resolve))
    const visit = door.arrive(
      arriving,
      () => answer(undefined),
      refused => answer(refused),
    )
    const gone: SignalFollower = {
      onAbort: () => {
        visit.end(undefined)
        answer(GONE)
      },
    }
    followSignal(raw.signal, gone)
    try {
      visit.begin()
      const refused = await answered
      if (refused !== undefined) return new Response(refused.body, refused)
      await visit.within(next)
      return undefined
    } finally {
      unfollowSignal(raw.signal, gone)
      visit.end(context.res.status)
    }
  }
}

/** The number that nginx gives to callers that went away; nobody reads it. */
const GONE: RefusedRequest = { status: 499, headers: {}, body: '' }
