/** Aborts as soon as one of them does; undefined when there is none. */
export function anySignal(...given: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const signals = given.filter(signal => signal !== undefined)
  return signals.length > 1 ? AbortSignal.any(signals) : signals[0]
}
