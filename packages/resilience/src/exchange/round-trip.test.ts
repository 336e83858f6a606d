import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { BudgetPolicy } from '../budget/policy.ts'
import { checkPolicy, type PipelinePolicy, type PipelinePolicyInput } from '../pipeline/policy.ts'
import { delayRange } from '../retry/backoff.ts'
import type { Exported, Imported } from './document.ts'
import { fromEnvoy } from './from-envoy.ts'
import { fromGrpcServiceConfig } from './from-grpc.ts'
import { fromIstio, toIstio } from './istio.ts'
import { toEnvoy } from './to-envoy.ts'
import { toGrpcServiceConfig } from './to-grpc.ts'

interface Format {
  readonly read: (config: unknown) => Imported
  readonly write: (policy: PipelinePolicyInput) => Exported<unknown>
}

const FORMATS: { readonly [name: string]: Format } = {
  grpc: {
    read: config => fromGrpcServiceConfig(config, 'shop.Cart/Add'),
    write: policy => toGrpcServiceConfig(policy, 'shop.Cart/Add'),
  },
  envoy: { read: fromEnvoy, write: toEnvoy },
  istio: { read: fromIstio, write: toIstio },
}

const anyMs = fc.oneof(fc.constantFrom(0, 1, 25, 57, 100, 1_000), fc.integer({ min: 0, max: 100_000 }))
const anyLimitMs = anyMs.map(ms => ms + 1)

const anyBudget: fc.Arbitrary<BudgetPolicy | false> = fc.oneof(
  fc.constant(false as const),
  fc.record(
    {
      kind: fc.constant('tokens'),
      maxTokens: fc.integer({ min: 1, max: 1_000 }),
      tokenRatio: fc.constantFrom(0.1, 0.5),
      replicas: fc.constant(3),
    },
    { requiredKeys: ['kind', 'maxTokens', 'tokenRatio'] },
  ),
  fc.record({
    kind: fc.constant('concurrent'),
    ratio: fc.integer({ min: 0, max: 2_000 }).map(thousandths => thousandths / 1_000),
    minRetries: fc.integer({ min: 0, max: 100 }),
  }),
  fc.constant({ kind: 'rate', perSecond: 1, burst: 1 } as const),
)

/** Whatever can be written down and passes the check. */
const anyPolicy: fc.Arbitrary<PipelinePolicy> = fc
  .record(
    {
      name: fc.constant('shop'),
      retry: fc.record(
        {
          maxAttempts: fc.integer({ min: 1, max: 12 }),
          backoffType: fc.constantFrom('EXPONENTIAL', 'LINEAR', 'FIXED', 'FIBONACCI'),
          initialDelayMs: anyMs,
          multiplier: fc.constantFrom(1, 1.5, 2, 3, 1_000),
          minDelayMs: fc.constantFrom(0, 0, 10),
          maxDelayMs: anyMs,
          totalBudgetMs: anyLimitMs,
          attemptTimeoutMs: anyLimitMs,
          jitterType: fc.constantFrom('NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL'),
          jitterRatio: fc.constantFrom(0.1, 0.2),
          retryableStatusCodes: fc.uniqueArray(fc.constantFrom(400, 408, 409, 429, 499, 500, 502, 503, 504, 599), {
            minLength: 1,
          }),
        },
        { requiredKeys: [] },
      ),
      budget: anyBudget,
      hedge: fc.record({ delayMs: anyMs, maxExtraCalls: fc.integer({ min: 1, max: 6 }) }),
    },
    { requiredKeys: ['name', 'retry'] },
  )
  .map(input => checkPolicy<unknown>(input).policy as PipelinePolicy)
  .filter(policy => policy !== undefined)

/** What a policy does, each part under the path that a loss of it would have. */
function deedsOf({ retry, budget, hedge }: PipelinePolicy): { readonly [at: string]: unknown } {
  const { maxAttempts, totalBudgetMs, attemptTimeoutMs } = retry
  const retries = Array.from({ length: Math.min(4, maxAttempts - 1) }, (_, place) => place + 1)
  return {
    'retry.maxAttempts': maxAttempts,
    'retry.totalBudgetMs': totalBudgetMs,
    'retry.attemptTimeoutMs': Math.min(attemptTimeoutMs, totalBudgetMs),
    'retry.retryableStatusCodes': maxAttempts === 1 ? [] : retry.retryableStatusCodes.toSorted((a, b) => a - b),
    'retry.backoffType': retries.map(attempt => delayRange(retry, { attempt, previousDelayMs: retry.initialDelayMs })),
    budget,
    hedge: hedge && [hedge.delayMs, hedge.maxExtraCalls, hedge.maxExtraLoad],
  }
}

/** Waits are a matter of three fields, and a budget or a hedge may be lost in part. */
function isListed(lost: readonly string[], at: string): boolean {
  const waits = ['retry.backoffType', 'retry.jitterType', 'retry.minDelayMs']
  return lost.some(path => path === at || path.startsWith(`${at}.`) || (waits.includes(path) && waits.includes(at)))
}

/** What stands in these documents, right and wrong. */
const TEXTS = words(`0s 0.1s 1s .5s 0.0000001s 250ms 300000000s 5xx reset retriable-status-codes unavailable,503
  UNAVAILABLE OK __proto__`)

const FIELDS = words(`methodConfig name service method timeout retryPolicy hedgingPolicy retryThrottling maxAttempts
  initialBackoff maxBackoff backoffMultiplier retryableStatusCodes hedgingDelay nonFatalStatusCodes maxTokens tokenRatio
  route cluster retry_policy retry_on retryOn num_retries numRetries per_try_timeout retry_back_off base_interval
  max_interval value rate_limited_retry_back_off reset_headers retriable_status_codes circuit_breakers thresholds
  retry_budget budget_percent min_retry_concurrency max_retries retries attempts backoff perTryTimeout __proto__ toString`)

function words(text: string): string[] {
  return text.split(/\s+/)
}

/** Objects made of their own words, in any mixture: random JSON alone would never get past the first field. */
const anyDocument = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    fc.constantFrom(null, true, 0, 1, 3, 20, -1, 1e10, 0.5, '', ...TEXTS),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...FIELDS), tie('value'), { maxKeys: 6 }),
})).object

describe.each(Object.entries(FORMATS))('the %s document', (_, { read, write }) => {
  it('of any policy reads back as the same policy, but for what was listed', () => {
    fc.assert(
      fc.property(anyPolicy, policy => {
        const { config, notCarried } = write(policy)
        const back = read(config)
        assert.equal(back.problems, undefined)
        // That nothing limits the retries is carried by silence, which is read as our default.
        const silence = back.notCarried.some(({ at }) => at === 'retryThrottling') ? ['budget'] : []
        const lost = [...notCarried!.map(({ at }) => at), ...silence]
        const [before, after] = [deedsOf(policy), deedsOf(checkPolicy(back.policy).policy!)]
        for (const [at, deed] of Object.entries(before)) if (!isListed(lost, at)) assert.deepEqual(after[at], deed, at)
      }),
      {
        numRuns: 500,
        // A wait of one and a half milliseconds is not one of two: their ranges differ.
        examples: [[checkPolicy({ name: 'shop', retry: { initialDelayMs: 1, multiplier: 1.5 } }).policy!]],
      },
    )
  })

  it('is the same once it went through a policy: whoever imports and exports again changes nothing', () => {
    fc.assert(
      fc.property(anyPolicy, policy => {
        const first = read(write(policy).config).policy!
        const second = read(write(first).config).policy!
        assert.deepEqual(deedsOf(checkPolicy(second).policy!), deedsOf(checkPolicy(first).policy!))
      }),
    )
  })

  it('may be any JSON: it is a policy that passes the check, or a list of problems, and never an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anyDocument), document => {
        const { policy, notCarried, problems } = read(document)
        if (problems === undefined) {
          assert.equal(checkPolicy(policy).problems, undefined)
          for (const { at, say } of notCarried) assert.ok(typeof at === 'string' && say.length > 0)
        } else {
          assert.ok(problems.length > 0)
          for (const { at, say } of problems) assert.ok(typeof at === 'string' && say.length > 0)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
