/**
 * The pure rules by which everything here decides, for programs that decide by them too: simulations, services, other
 * shells. Plain data in, plain data out; no clock, no promise, no die of their own.
 */
export * as adaptiveRate from '../rate-limit/adaptive.ts'
export * as breaker from '../breaker/decide.ts'
export * as budget from '../budget/decide.ts'
export * as bulkhead from '../bulkhead/decide.ts'
export * as envoyGradient from '../limiter/envoy-gradient.ts'
export * as hedge from '../hedge/decide.ts'
export * as killSwitch from '../kill-switch/decide.ts'
export * as latency from '../latency/decide.ts'
export * as limiter from '../limiter/decide.ts'
export * as pushback from '../hedge/pushback.ts'
export * as rateLimit from '../rate-limit/decide.ts'
export * as replicas from '../replicas/decide.ts'
export * as throttle from '../throttle/decide.ts'
export * as timeout from '../timeout/decide.ts'
export * as window from '../window/decide.ts'
export { aimd } from '../limiter/aimd.ts'
export { gradient2 } from '../limiter/gradient2.ts'
export { vegas } from '../limiter/vegas.ts'
export { startLimit, type LimitState } from '../limiter/state.ts'
