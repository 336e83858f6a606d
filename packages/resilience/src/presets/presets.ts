/**
 * Policies that others have published, and those for the usual places, as whole documents. What a source does not
 * publish, most often its time limits, is our default; what it does and a document cannot carry is said beside it.
 * All of them honour `Retry-After` and classify network errors as we do.
 */
import { DEFAULT_BREAKER } from '../breaker/policy.ts'
import { DEFAULT_BUDGET, type BudgetPolicy } from '../budget/policy.ts'
import type { PipelinePolicy } from '../pipeline/policy.ts'
import { DEFAULT_POLICY, type RetryPolicy } from '../retry/policy.ts'

export interface Presets {
  /** AWS SDK for JavaScript, standard mode, until the end of 2026. */
  readonly awsSdk: PipelinePolicy
  /** The same for calls that are throttled. */
  readonly awsSdkThrottling: PipelinePolicy
  /** AWS SDKs, standard mode, with `AWS_NEW_RETRIES_2026=true`; the default from November 2026 at the earliest. */
  readonly awsSdk2026: PipelinePolicy
  /** The same for calls that are throttled. */
  readonly awsSdk2026Throttling: PipelinePolicy
  /** stripe-node since v13. */
  readonly stripe: PipelinePolicy
  /** The example of gRPC's retry design. */
  readonly grpc: PipelinePolicy
  /** Google Cloud Storage for Node.js. */
  readonly google: PipelinePolicy
  /** Envoy's router, with its retry budget. */
  readonly envoy: PipelinePolicy
  readonly springRetry: PipelinePolicy
  /** A person waits. */
  readonly userFacing: PipelinePolicy
  /** Nobody waits, and the work should be done today. */
  readonly background: PipelinePolicy
  /** A delivery to somebody else's server, over three days. */
  readonly webhook: PipelinePolicy
  /** What the service does with a task that names no policy. */
  readonly service: PipelinePolicy
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

export const presets: Presets = /* @__PURE__ */ allPresets()

function allPresets(): Presets {
  return freeze({ ...published(), ...ours() })
}

type Published = Omit<Presets, keyof Ours>
type Ours = Pick<Presets, 'userFacing' | 'background' | 'webhook' | 'service'>

function published(): Published {
  // smithy-typescript. It has no deadline, and its older releases cap after jitter, which only shows at 20 s.
  // One document has one base: calls that are throttled wait from another, in a document of their own.
  const aws = { maxDelayMs: 20 * SECOND, retryableStatusCodes: [429, 500, 502, 503, 504] }
  const awsQuota = { kind: 'quota', capacity: 500, throttledCost: 5, successGain: 1 } as const
  const oldQuota: BudgetPolicy = { ...awsQuota, retryCost: 10 }
  const newQuota: BudgetPolicy = { ...awsQuota, retryCost: 14 }
  return {
    awsSdk: preset('aws-sdk', { ...aws, initialDelayMs: 100 }, oldQuota),
    awsSdkThrottling: preset('aws-sdk-throttling', { ...aws, initialDelayMs: 500 }, oldQuota),
    // Not carried: four attempts and 25 ms for DynamoDB; a server's hint counts in full here, there for 5 s at the most.
    awsSdk2026: preset('aws-sdk-2026', { ...aws, initialDelayMs: 50 }, newQuota),
    awsSdk2026Throttling: preset('aws-sdk-2026-throttling', { ...aws, initialDelayMs: 1_000 }, newQuota),

    // Not carried: `stripe-should-retry`, which overrules the status, and the free retry on a connection closed early.
    stripe: preset('stripe', {
      maxAttempts: 2,
      initialDelayMs: 500,
      minDelayMs: 500,
      maxDelayMs: 5 * SECOND,
      jitterType: 'EQUAL',
      attemptTimeoutMs: 80 * SECOND,
      totalBudgetMs: 160 * SECOND + 500, // two calls as long as Stripe lets them be, and the wait between them
      retryableStatusCodes: [409, ...statuses(500, 599)],
    }),

    // gRFC A6. Not carried: pushback, transparent retries. The statuses are those that gRPC reads as UNAVAILABLE.
    grpc: preset(
      'grpc',
      {
        maxAttempts: 4,
        initialDelayMs: 100,
        maxDelayMs: 1 * SECOND,
        jitterType: 'PROPORTIONAL',
        jitterRatio: 0.2,
        retryableStatusCodes: [429, 502, 503, 504],
      },
      { kind: 'tokens', maxTokens: 10, tokenRatio: 0.1 },
    ),

    // Not carried: up to one second is added to each wait there, where we draw from its upper half; and that calls
    // without a precondition are not repeated, which is the caller's to say.
    google: preset('google', {
      maxAttempts: 4,
      initialDelayMs: 1 * SECOND,
      maxDelayMs: 64 * SECOND,
      jitterType: 'EQUAL',
      totalBudgetMs: 600 * SECOND,
      attemptTimeoutMs: 60 * SECOND,
      retryableStatusCodes: [408, 429, ...statuses(500, 599)],
    }),

    // One retry, in no more than (2^n − 1) × 25 ms. Not carried: `retry_on` beyond its gateway errors, other hosts first.
    envoy: preset(
      'envoy',
      {
        maxAttempts: 2,
        backoffType: 'CUSTOM',
        delaysMs: [25, 75, 175, 250],
        initialDelayMs: 25,
        maxDelayMs: 250,
        totalBudgetMs: 15 * SECOND,
        attemptTimeoutMs: 15 * SECOND, // Envoy sets none: what timed out is not retried
        retryableStatusCodes: [502, 503, 504],
      },
      { kind: 'concurrent', ratio: 0.2, minRetries: 3 },
    ),

    // It spreads nothing unless told to. Not carried: which exceptions are retried, all of them by default.
    springRetry: preset('spring-retry', {
      maxAttempts: 5,
      initialDelayMs: 1 * SECOND,
      maxDelayMs: 30 * SECOND,
      jitterType: 'NONE',
      totalBudgetMs: 65 * SECOND, // five calls of ten seconds and the fifteen between them
    }),
  }
}

function ours(): Ours {
  return {
    userFacing: {
      ...preset('user-facing', {
        totalBudgetMs: 5 * SECOND, // after that the person has pressed reload
        attemptTimeoutMs: 2 * SECOND, // a call that hangs leaves time for another
      }),
      // Half a minute, the default, would refuse people long after a short outage is over.
      breaker: { ...DEFAULT_BREAKER, openMs: 2 * SECOND },
    },

    // The others outlast an outage, which an open breaker in process would not let them; in the service it only holds them.
    background: preset('background', {
      maxAttempts: 10,
      initialDelayMs: 1 * SECOND,
      maxDelayMs: 15 * MINUTE,
      totalBudgetMs: 24 * HOUR,
      attemptTimeoutMs: 60 * SECOND, // nobody waits for it
    }),

    // Standard Webhooks 1.0.0: ten attempts over three days. Anything but 2xx is a failure, redirects too; 410 is the
    // receiver's way to say "never again". Not carried: disabling an endpoint that failed for long.
    webhook: preset('webhook', {
      maxAttempts: 10,
      backoffType: 'CUSTOM',
      delaysMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
      initialDelayMs: 5 * SECOND,
      maxDelayMs: 24 * HOUR,
      jitterType: 'PROPORTIONAL', // a tenth: receivers of one outage come apart, and the schedule stays the published one
      totalBudgetMs: 96 * HOUR, // 75 h 35 min and a tenth, with time to spare for what receivers ask for
      attemptTimeoutMs: 15 * SECOND,
      retryableStatusCodes: statuses(300, 599).filter(status => status !== 410),
    }),

    service: preset('service', {
      policyId: 'default',
      maxAttempts: 50, // the deadline is the limit that is meant: with full jitter, 12 attempts are over in half an hour
      initialDelayMs: 1 * SECOND,
      maxDelayMs: 1 * HOUR,
      totalBudgetMs: 24 * HOUR,
      attemptTimeoutMs: 15 * SECOND,
    }),
  }
}

function preset(name: string, retry: Partial<RetryPolicy>, budget: BudgetPolicy = DEFAULT_BUDGET): PipelinePolicy {
  return { name, retry: { ...DEFAULT_POLICY, policyId: name, ...retry }, budget }
}

function statuses(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset)
}

/** All the way down: a preset that one caller changed would be another's surprise. */
function freeze<Document extends object>(document: Document): Document {
  // A copy, for the defaults that are shared with others are not ours to freeze.
  const copy = Object.entries(document).map(([field, value]: [string, unknown]) => [
    field,
    isObject(value) ? freeze(value) : value,
  ])
  return Object.freeze(Array.isArray(document) ? copy.map(([, value]) => value) : Object.fromEntries(copy)) as Document
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
