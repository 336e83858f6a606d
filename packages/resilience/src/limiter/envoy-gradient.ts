/** What Envoy's adaptive concurrency looks at once in each of its windows. */
export interface EnvoyWindow {
  readonly limit: number
  /** How long calls take while next to none are under way. */
  readonly idleMs: number
  /** How long they took in this window, the median. */
  readonly sampleMs: number
}

/**
 * The next limit by Envoy's gradient controller with its defaults, for comparison. The headroom is the root of what
 * the gradient left of the limit, as in its code, and not of the limit itself.
 */
export function envoyGradient({ limit, idleMs, sampleMs }: EnvoyWindow): number {
  const gradient = Math.max(0.5, Math.min(2, (1.25 * idleMs) / sampleMs))
  const scaled = gradient * limit
  return Math.max(3, Math.min(1_000, Math.floor(scaled + Math.sqrt(scaled))))
}
