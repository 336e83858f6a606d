/**
 * One listener per abort signal, whatever the number of operations that wait for it. Listeners are searched one by
 * one when they are added, so that a listener per operation on a server's shutdown signal costs more the more there
 * are; and one that is forgotten is held by the signal for its whole life.
 */
export interface SignalFollower {
  onAbort(reason: unknown): void
}

const followersOf = new WeakMap<AbortSignal, Followers>()

/** Tells the follower, once, when the signal aborts. A signal that has aborted already tells nobody. */
export function followSignal(signal: AbortSignal, follower: SignalFollower): void {
  let followers = followersOf.get(signal)
  if (followers === undefined) followersOf.set(signal, (followers = new Followers(signal)))
  followers.add(follower)
}

export function unfollowSignal(signal: AbortSignal, follower: SignalFollower): void {
  followersOf.get(signal)?.remove(follower)
}

class Followers {
  readonly #signal: AbortSignal
  #members = new Set<SignalFollower>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  add(follower: SignalFollower): void {
    if (this.#members.size === 0) this.#signal.addEventListener('abort', this.#tell)
    this.#members.add(follower)
  }

  remove(follower: SignalFollower): void {
    if (this.#members.delete(follower) && this.#members.size === 0)
      this.#signal.removeEventListener('abort', this.#tell)
  }

  readonly #tell = (): void => {
    const members = this.#members
    this.#members = new Set()
    this.#signal.removeEventListener('abort', this.#tell)
    for (const member of members) tellAbort(member, this.#signal.reason)
  }
}

/** One that throws must not keep the others from hearing it; its error is nobody's and goes where such errors go. */
function tellAbort(member: SignalFollower, reason: unknown): void {
  try {
    member.onAbort(reason)
  } catch (error) {
    console.error('secondwind: a follower of a signal threw', error)
  }
}
