/** gRPC's service config, written. */
import type { BudgetPolicy } from '../budget/policy.ts'
import type { HedgePolicy } from '../hedge/policy.ts'
import { plainDelayMs } from '../retry/backoff.ts'
import type { RetryPolicy } from '../retry/policy.ts'
import { writeSeconds, type Exported, type Loss, type Report } from './document.ts'
import { GRPC_MAX_ATTEMPTS, GRPC_WAITS } from './from-grpc.ts'
import { readCall, type GrpcCall } from './grpc-call.ts'
import { GRPC_CODES } from './grpc-codes.ts'
import { completePolicy, lostBudgetFields, lostParts, lostWaits, type AnyPolicyInput } from './losses.ts'

export interface GrpcServiceConfig {
  readonly methodConfig: readonly [GrpcMethodConfig]
  readonly retryThrottling?: GrpcRetryThrottling
}

/** With neither of the two policies a call is made once. */
export interface GrpcMethodConfig {
  readonly name: readonly [{ readonly service?: string; readonly method?: string }]
  readonly timeout: string
  readonly retryPolicy?: GrpcRetryPolicy
  readonly hedgingPolicy?: GrpcHedgingPolicy
}

export interface GrpcRetryPolicy {
  readonly maxAttempts: number
  readonly initialBackoff: string
  readonly maxBackoff: string
  readonly backoffMultiplier: number
  readonly retryableStatusCodes: readonly string[]
}

export interface GrpcHedgingPolicy {
  readonly maxAttempts: number
  readonly hedgingDelay: string
}

export interface GrpcRetryThrottling {
  readonly maxTokens: number
  readonly tokenRatio: number
}

/** The config of one call, of a service, or of all calls that have none of their own. */
export function toGrpcServiceConfig(input: AnyPolicyInput, call: GrpcCall = ''): Exported<GrpcServiceConfig> {
  const report: Report = { problems: [], notCarried: [] }
  const [service, method] = readCall(report, call).split('/')
  const { policy, problems = [] } = completePolicy(input)
  if (policy === undefined || report.problems.length > 0) return { problems: [...problems, ...report.problems] }
  const { retry, hedge, budget } = policy
  const notCarried = lostParts(policy, ['hedge', 'budget'], 'gRPC')
  const retryPolicy = writeRetries(notCarried, retry)
  const hedgingPolicy = writeHedge(notCarried, retry, hedge)
  const retryThrottling = writeBudget(notCarried, budget)
  if (retry.attemptTimeoutMs < retry.totalBudgetMs)
    notCarried.push({
      at: 'retry.attemptTimeoutMs',
      is: retry.attemptTimeoutMs,
      say: 'has no counterpart in gRPC: every attempt may last until the deadline',
    })
  return {
    config: {
      methodConfig: [
        {
          name: [{ ...(service && { service }), ...(method && { method }) }],
          timeout: writeSeconds(retry.totalBudgetMs),
          ...(retryPolicy && { retryPolicy }),
          ...(hedgingPolicy && { hedgingPolicy }),
        },
      ],
      ...(retryThrottling && { retryThrottling }),
    },
    notCarried,
  }
}

function writeRetries(notCarried: Loss[], policy: RetryPolicy): GrpcRetryPolicy | undefined {
  if (policy.maxAttempts === 1) return undefined
  const maxAttempts = writeAttempts(notCarried, 'retry.maxAttempts', policy.maxAttempts)
  // A wait of nothing is refused there.
  const initialDelayMs = Math.max(1, plainDelayMs(policy, 1))
  const maxDelayMs = Math.max(initialDelayMs, policy.maxDelayMs)
  const growth = plainDelayMs(policy, 2) / initialDelayMs
  const multiplier = policy.backoffType === 'EXPONENTIAL' ? policy.multiplier : Math.min(1_000, Math.max(1, growth))
  const theirs = { ...GRPC_WAITS, initialDelayMs, maxDelayMs, multiplier }
  notCarried.push(...lostWaits({ ...policy, maxAttempts }, theirs, 'gRPC'))
  return {
    maxAttempts,
    initialBackoff: writeSeconds(initialDelayMs),
    maxBackoff: writeSeconds(maxDelayMs),
    backoffMultiplier: multiplier,
    retryableStatusCodes: writeCodes(notCarried, policy.retryableStatusCodes),
  }
}

function writeAttempts(notCarried: Loss[], at: string, attempts: number, is: number = attempts): number {
  if (attempts > GRPC_MAX_ATTEMPTS)
    notCarried.push({ at, is, say: `is too much for gRPC, which makes ${GRPC_MAX_ATTEMPTS} calls at the most` })
  return Math.min(attempts, GRPC_MAX_ATTEMPTS)
}

function writeCodes(notCarried: Loss[], statuses: readonly number[]): string[] {
  const at = 'retry.retryableStatusCodes'
  const unknown = statuses.filter(status => !GRPC_CODES.some(([, known]) => known === status))
  if (unknown.length > 0) notCarried.push({ at, is: unknown, say: 'have no code in gRPC' })
  // What gRPC says of a lost connection, which every policy retries.
  const lostConnection = 503
  if (!statuses.includes(lostConnection))
    notCarried.push({
      at,
      is: statuses,
      say: 'gain 503: UNAVAILABLE is also a lost connection, which is always retried',
    })
  return GRPC_CODES.filter(([, status]) => status === lostConnection || statuses.includes(status)).map(([name]) => name)
}

function writeHedge(
  notCarried: Loss[],
  { maxAttempts }: RetryPolicy,
  hedge: HedgePolicy | undefined,
): GrpcHedgingPolicy | undefined {
  if (hedge === undefined) return undefined
  if (maxAttempts > 1 || hedge.delayMs === undefined) {
    const say = 'is not written: gRPC hedges only calls that it does not retry, and after a fixed time'
    notCarried.push({ at: 'hedge', is: hedge, say })
    return undefined
  }
  if (hedge.maxExtraLoad < 1)
    notCarried.push({ at: 'hedge.maxExtraLoad', is: hedge.maxExtraLoad, say: 'has no counterpart in gRPC' })
  return {
    maxAttempts: writeAttempts(notCarried, 'hedge.maxExtraCalls', hedge.maxExtraCalls + 1, hedge.maxExtraCalls),
    hedgingDelay: writeSeconds(hedge.delayMs),
  }
}

function writeBudget(notCarried: Loss[], budget: BudgetPolicy | false | undefined): GrpcRetryThrottling | undefined {
  if (!budget) return undefined
  if (budget.kind !== 'tokens') {
    notCarried.push({ at: 'budget', is: budget, say: 'has no counterpart in gRPC, which knows the kind tokens only' })
    return undefined
  }
  notCarried.push(...lostBudgetFields(budget, 'gRPC'))
  return { maxTokens: budget.maxTokens, tokenRatio: budget.tokenRatio }
}
