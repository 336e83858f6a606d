/** Whether there is something to wait for: a promise, of this realm or another, or what behaves like one. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
