/**
 * All that the library may know of time. Two clocks, because they answer different questions: `now` is what the
 * world writes into HTTP dates and rows; `monotonic` is what durations are measured with, for it never steps back.
 */
export interface Clock {
  /** Wall time, in ms since the epoch. */
  now(): number
  /** Elapsed time, in ms since some fixed instant. */
  monotonic(): number
  /** Resolves after `ms`, however many they are; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Rings the alarm once, not before its `dueAt`. An alarm is armed at most once at a time. */
  arm(alarm: Alarm): void
  /** Forgets the alarm; one that is not armed stays as it is. */
  disarm(alarm: Alarm): void
}

/**
 * A wait without a promise. `retry` keeps a hundred thousand of these: a field in an object that exists anyway is a
 * tenth of the memory of a promise with its timer.
 */
export interface Alarm {
  /** The `monotonic` instant at which to ring. */
  dueAt: number
  /** The clock's own note of where the alarm stands; `NOT_ARMED` when it does not. */
  slot: number
  /** Another note of the clock's, while the alarm is new: who was armed before it. */
  behind?: Alarm | undefined
  /** `now`, where the clock has just been read, spares the alarm a look at it. */
  ring(now?: number): void
}

export const NOT_ARMED = -1
