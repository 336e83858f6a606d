export { blockedShare, closedQueue, erlangB, erlangC, md1, meanOrbit, mg1, mm1, mm1QuantileMs, mmc } from './queues.ts'
export type { Load, Offered, SteadyQueue } from './queues.ts'
export {
  burstBacklog,
  capacityFor,
  drainMs,
  herdPerSecond,
  retryLoad,
  safeOperationsPerSecond,
  stallRecoveryMs,
} from './retry-load.ts'
export type { Backlog, Burst, PolicyCapacity, RetryLoad, RetryLoadAsk } from './retry-load.ts'
export { anyOf, exponential, fannedOut, hedged, hedgeShare, quantileMs, type Survival } from './tails.ts'
export { tierLoads, type ChainTier, type TierLoad } from './tiers.ts'
