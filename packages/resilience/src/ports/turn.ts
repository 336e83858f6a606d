/**
 * Calls back in a later turn of the event loop, when every promise that could settle by itself has settled.
 * It is not a wait: no clock moves, real or virtual.
 */
export function nextTurn(callback: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else setTimeout(callback, 0)
}

declare const setImmediate: ((callback: () => void) => unknown) | undefined
