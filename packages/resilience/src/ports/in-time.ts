import type { Clock } from './clock.ts'
import { followSignal, unfollowSignal } from './signals.ts'

/** What a promise comes to within `ms`, undefined when that is too late; rejects as soon as the signal aborts. */
export async function inTime<T>(
  promise: PromiseLike<T>,
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<T | undefined> {
  signal?.throwIfAborted()
  const timer = new AbortController()
  const follower = { onAbort: (reason: unknown): void => timer.abort(reason) }
  if (signal !== undefined) followSignal(signal, follower)
  try {
    return await Promise.race([promise, clock.sleep(ms, timer.signal).then(() => undefined)])
  } finally {
    if (signal !== undefined) unfollowSignal(signal, follower)
    timer.abort()
  }
}
