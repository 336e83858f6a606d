import { complain } from './telemetry.ts'

/**
 * One listener per abort signal, whatever the number of operations that wait for it. Listeners are searched one by
 * one when they are added, so that a listener per operation on a server's shutdown signal costs more the more there
 * are; and one that is forgotten is held by the signal for its whole life.
 */
export interface SignalFollower {
  onAbort(reason: unknown): void
}

const followersOf = new WeakMap<AbortSignal, Set<SignalFollower>>()

/** Tells the follower, once, when the signal aborts. A signal that has aborted already tells nobody. */
export function followSignal(signal: AbortSignal, follower: SignalFollower): void {
  let followers = followersOf.get(signal)
  if (followers === undefined) followersOf.set(signal, (followers = new Set()))
  if (followers.size === 0) signal.addEventListener('abort', tellAll)
  followers.add(follower)
}

export function unfollowSignal(signal: AbortSignal, follower: SignalFollower): void {
  const followers = followersOf.get(signal)
  if (followers?.delete(follower) && followers.size === 0) signal.removeEventListener('abort', tellAll)
}

/** The listener of every signal. */
function tellAll(this: AbortSignal): void {
  this.removeEventListener('abort', tellAll)
  const followers = followersOf.get(this)!
  followersOf.delete(this)
  for (const follower of followers) {
    try {
      follower.onAbort(this.reason)
    } catch (error) {
      // It must not keep the others from hearing it; its error is nobody's and goes where such errors go.
      complain('a follower of a signal', error)
    }
  }
}
