import type { PolicyDocument, Scenario } from '@secondwind/lab'

const PLAIN: PolicyDocument = { maxAttempts: 4 }

const EVERY_LAYER: PolicyDocument = {
  name: 'every layer',
  retry: { maxAttempts: 4 },
  hedge: {},
  breaker: { failureRate: 0.9 },
  bulkhead: { limit: 1_000_000, maxQueued: 0 },
  rateLimit: { perSecond: 1e9, burst: 1e9 },
  limiter: { kind: 'gradient2', initialLimit: 100_000, maxLimit: 1_000_000 },
  throttle: {},
}

/** Clients that think for a second, call for a twentieth of it, and fail once in five times. */
export function closedWorld(kind: 'plain' | 'every layer', clients: number, calls: number): Scenario {
  const perSecond = clients / 1.05
  return {
    name: kind,
    durationMs: (calls / perSecond) * 1_000,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'policy',
        count: clients,
        processes: Math.min(100, clients),
        arrivals: { kind: 'closed', thinkMs: { kind: 'exponential', meanMs: 1_000 } },
      },
    ],
    pipelines: { policy: kind === 'plain' ? PLAIN : EVERY_LAYER },
    dependencies: { server: { serviceMs: { kind: 'exponential', meanMs: 50 }, errorRate: 0.2 } },
  }
}
