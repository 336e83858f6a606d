/** A promise of ours for whatever can be waited for, of this realm or another; all else as it is. */
export function asPromise<T>(value: T | PromiseLike<T>): T | Promise<T> {
  if (value instanceof Promise) return value
  return isThenable(value) ? Promise.resolve(value) : value
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
