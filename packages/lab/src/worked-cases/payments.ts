import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { measuredMs, say, type Claim, type WorkedCase } from './worked-case.ts'

const POLICY: PolicyDocument = {
  name: 'payments',
  retry: { maxAttempts: 3, initialDelayMs: 200, maxDelayMs: 5_000, totalBudgetMs: 5_000, attemptTimeoutMs: 5_000 },
  budget: { kind: 'rate', perSecond: 100, burst: 200 },
  breaker: { window: 'time', windowMs: 60_000, failureRate: 0.5, minCalls: 20, openMs: 30_000, probes: 5 },
}

function payments(): Scenario {
  return {
    name: 'payments',
    durationMs: 300_000,
    clients: [{ name: 'shop', calls: 'provider', pipeline: 'payments', arrivals: { kind: 'poisson', perSecond: 400 } }],
    pipelines: { payments: POLICY },
    dependencies: {
      provider: {
        serviceMs: { kind: 'log-normal', medianMs: 200, p99Ms: 1_000 },
        errorRate: 0.02,
        troubles: [{ fromMs: 60_000, untilMs: 120_000, errorRate: 1, errorMs: 50 }],
      },
    },
  }
}

export const paymentsCase: WorkedCase = {
  name: 'payments',
  inputs:
    'POST with a key; median 200 ms, p99 1 s, deadline 5 s; 503 now and then (here 2 % at 400/s) and for a minute; three tries, 200 ms, FULL; 100 retries/s, burst 200; breaker 50 % of 60 s',
  variants: () => ({ payments: payments() }),
  claims({ of }) {
    const { clients, dependencies, recovery } = of('payments')
    const { recoveredAfterMs } = recovery
    const { reasons, successShare, perStep, operations } = clients['shop']!
    const { retries, amplification } = dependencies['provider']!
    const count = (reason: string): number => reasons[reason] ?? 0
    const seen = (what: string, reason: string): Claim => ({
      what,
      theirs: 'happens',
      ours: `${say(count(reason))} of ${say(operations)}`,
      holds: count(reason) > 0,
      measured: { unit: 'count', ours: count(reason), least: 1 },
    })
    const usual = perStep.good.slice(5, 55).reduce((sum, good) => sum + good, 0)
    const asked = perStep.begun.slice(5, 55).reduce((sum, begun) => sum + begun, 0)
    return [
      {
        what: 'on a usual day three tries are enough',
        theirs: 'yes',
        ours: say(usual / asked, 'share'),
        holds: usual / asked > 0.99,
        measured: { unit: 'share', ours: usual / asked, least: 0.99 },
      },
      {
        what: 'some are tried again',
        theirs: 'yes',
        ours: `${say(retries)} retries`,
        holds: retries > 0,
        measured: { unit: 'count', ours: retries, least: 1 },
      },
      seen('some are exhausted', 'attempts'),
      seen('some are denied by the budget', 'budget'),
      seen('the breaker trips', 'breaker-open'),
      {
        what: 'the provider is left alone while it is down',
        theirs: 'yes',
        ours: `${say(amplification, 'times')} the calls over five minutes`,
        holds: amplification < 1,
        measured: { unit: 'times', ours: amplification, most: 1 },
      },
      {
        what: 'it recovers by itself',
        theirs: 'yes',
        ours: `${recoveredAfterMs === undefined ? 'never' : `after ${say(recoveredAfterMs, 'ms')}`}; ${say(successShare, 'share')} in all`,
        holds: recoveredAfterMs !== undefined,
        measured: measuredMs(recoveredAfterMs),
      },
      {
        what: '4xx at once · a duplicate answered from the record · two at once, one works',
        theirs: 'yes',
        ours: 'not simulated',
        note: 'they are promises of the classification and of the idempotency record, and tested there',
      },
    ]
  },
}
