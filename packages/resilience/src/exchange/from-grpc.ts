/**
 * gRPC's service config (gRFC A6 and service_config.proto), read. It is the whole truth about a call: what it leaves
 * out does not happen. Where our own limits come in instead, they are listed.
 */
import type { TokenBudget } from '../budget/policy.ts'
import { numberBetween, wholeNumber, type FieldCheck } from '../check/problems.ts'
import type { HedgeInput } from '../hedge/policy.ts'
import { DEFAULT_POLICY, type RetryPolicyInput } from '../retry/policy.ts'
import {
  anything,
  entriesOf,
  list,
  readFields,
  readMs,
  seconds,
  type Imported,
  type JsonObject,
  type Loss,
  type Report,
  type Shape,
} from './document.ts'
import { readCall, readName, type GrpcCall } from './grpc-call.ts'
import { findCode, GRPC_CODES } from './grpc-codes.ts'

/** What gRPC does that no service config can change. A fifth either way since 2024; older clients draw from 0 up. */
export const GRPC_WAITS = {
  backoffType: 'EXPONENTIAL',
  jitterType: 'PROPORTIONAL',
  jitterRatio: 0.2,
  minDelayMs: 0,
} as const

/** More are as many to every client that was not told otherwise. */
export const GRPC_MAX_ATTEMPTS = 5

/**
 * The policy of one call, or of a service. As in gRPC the entry of the method counts, else that of its service, else the
 * one without a name. A call that has none is made once.
 */
export function fromGrpcServiceConfig(config: unknown, call: GrpcCall = ''): Imported {
  const report: Report = { problems: [], notCarried: [] }
  const name = readCall(report, call)
  const { methodConfig, retryThrottling } = readFields(report, '', config, serviceConfig())
  const entries = entriesOf(methodConfig).map((entry, place) => readEntry(report, `methodConfig[${place}]`, entry))
  checkNames(report, entries)
  const budget = readBudget(report, retryThrottling)
  if (report.problems.length > 0) return { problems: report.problems }

  const entry = choose(entries, name)
  for (const { at, names } of entries)
    if (at !== entry?.at) {
      const say = names.length > 0 ? 'is for other calls: import it by their name' : 'has no name, and gRPC skips it'
      report.notCarried.push({ at, is: names, say })
    }
  report.notCarried.push(...(entry?.losses ?? []))
  return {
    policy: {
      name: name.slice(0, 200) || 'grpc',
      ...readCalls(report, entry ?? { at: 'methodConfig' }),
      ...(budget && { budget }),
    },
    notCarried: report.notCarried,
  }
}

/** What one entry says of its calls; with neither retries nor hedges they are made once. */
interface Calls {
  readonly at: string
  readonly timeout?: unknown
  readonly retries?: JsonObject | undefined
  readonly hedges?: JsonObject | undefined
}

interface Entry extends Calls {
  /** `package.Service/Method`, `package.Service`, or empty for all others. */
  readonly names: readonly string[]
  readonly losses: readonly Loss[]
}

function readEntry({ problems }: Report, at: string, input: unknown): Entry {
  // Losses matter only in the entry that is chosen. Problems matter anyway: gRPC refuses the whole document.
  const report: Report = { problems, notCarried: [] }
  const { name, timeout, retryPolicy, hedgingPolicy } = readFields(report, at, input, methodConfig())
  const names = entriesOf(name).map((one, place) => readName(report, `${at}.name[${place}]`, one))
  const retries = readIfGiven(report, `${at}.retryPolicy`, retryPolicy, retryFields())
  const hedges = readIfGiven(report, `${at}.hedgingPolicy`, hedgingPolicy, hedgingFields(), ['maxAttempts'])
  if (retries !== undefined && hedges !== undefined)
    problems.push({ at: `${at}.hedgingPolicy`, is: hedgingPolicy, say: 'and retryPolicy exclude each other' })
  return { at, names, timeout, retries, hedges, losses: report.notCarried }
}

function checkNames({ problems }: Report, entries: readonly Entry[]): void {
  const seen = new Set<string>()
  for (const { at, names } of entries)
    for (const [place, name] of names.entries()) {
      if (seen.has(name)) problems.push({ at: `${at}.name[${place}]`, is: name, say: 'must not be named twice' })
      seen.add(name)
    }
}

function choose(entries: readonly Entry[], call: string): Entry | undefined {
  const named = (name: string): Entry | undefined => entries.find(({ names }) => names.includes(name))
  return named(call) ?? named(call.split('/')[0]!) ?? named('')
}

/** The retries or hedges of one entry, within its deadline. */
function readCalls(report: Report, calls: Calls): { retry: RetryPolicyInput; hedge?: HedgeInput } {
  const { at, timeout, retries, hedges } = calls
  const { totalBudgetMs: ourTotalMs, attemptTimeoutMs: ourAttemptMs } = DEFAULT_POLICY
  if (timeout === undefined) {
    const say = `is none, and gRPC would wait for ever; here a call ends after ${ourAttemptMs} ms, all after ${ourTotalMs}`
    report.notCarried.push({ at: `${at}.timeout`, is: undefined, say })
  }
  const totalBudgetMs = readMs(report, `${at}.timeout`, timeout) || ourTotalMs
  // Nothing ends a single attempt there but the deadline.
  const attemptTimeoutMs = timeout === undefined ? ourAttemptMs : totalBudgetMs
  const limits = { totalBudgetMs, attemptTimeoutMs }
  if (retries !== undefined) return { retry: { ...readRetries(report, `${at}.retryPolicy`, retries), ...limits } }
  const hedge = hedges && readHedge(report, `${at}.hedgingPolicy`, hedges, attemptTimeoutMs)
  return { retry: { maxAttempts: 1, ...limits }, ...(hedge && { hedge }) }
}

function readRetries(report: Report, at: string, fields: JsonObject): RetryPolicyInput {
  const maxDelayMs = readMs(report, `${at}.maxBackoff`, fields['maxBackoff'])
  const factor = fields['backoffMultiplier'] as number
  const multiplier = Math.min(1_000, Math.max(1, factor))
  if (multiplier !== factor)
    report.notCarried.push({ at: `${at}.backoffMultiplier`, is: factor, say: `is ${multiplier} here` })
  return {
    ...GRPC_WAITS,
    maxAttempts: readAttempts(report, at, fields),
    initialDelayMs: Math.min(readMs(report, `${at}.initialBackoff`, fields['initialBackoff']), maxDelayMs),
    multiplier,
    maxDelayMs,
    retryableStatusCodes: readCodes(report, `${at}.retryableStatusCodes`, fields['retryableStatusCodes'] as unknown[]),
  }
}

function readAttempts(report: Report, at: string, fields: JsonObject): number {
  const is = fields['maxAttempts'] as number
  if (is > GRPC_MAX_ATTEMPTS)
    report.notCarried.push({ at: `${at}.maxAttempts`, is, say: `is ${GRPC_MAX_ATTEMPTS} to gRPC, and here` })
  return Math.min(is, GRPC_MAX_ATTEMPTS)
}

function readCodes(report: Report, at: string, is: readonly unknown[]): number[] {
  const found = is.map(code => findCode(code)!)
  const statuses = [...new Set(found.map(([, status]) => status))]
  const others = GRPC_CODES.filter(([name, status]) => statuses.includes(status) && !found.some(([is]) => is === name))
  if (others.length > 0) {
    const say = `becomes ${statuses.join(', ')}, which stands for ${others.map(([name]) => name).join(', ')} too`
    report.notCarried.push({ at, is, say })
  }
  if (!found.some(([name]) => name === 'UNAVAILABLE'))
    report.notCarried.push({ at, is, say: 'leaves out UNAVAILABLE, but a lost connection is always retried here' })
  return statuses
}

function readHedge(report: Report, at: string, fields: JsonObject, attemptMs: number): HedgeInput | undefined {
  const { hedgingDelay, nonFatalStatusCodes = [] } = fields
  const delayMs = readMs(report, `${at}.hedgingDelay`, hedgingDelay)
  const maxExtraCalls = readAttempts(report, at, fields) - 1
  const lose = (field: string, is: unknown, say: string): number =>
    report.notCarried.push({ at: `${at}.${field}`, is, say })
  if ((nonFatalStatusCodes as unknown[]).length > 0)
    lose('nonFatalStatusCodes', nonFatalStatusCodes, 'has no counterpart here: slow calls are hedged, not failed ones')
  if (delayMs >= attemptMs) {
    lose('hedgingDelay', hedgingDelay, `is never reached: a call ends after ${attemptMs} ms`)
    return undefined
  }
  if (maxExtraCalls > 1)
    lose('maxAttempts', fields['maxAttempts'], 'is less here on the whole: one hedge for each call')
  return { delayMs, maxExtraCalls, maxExtraLoad: 1 }
}

function readBudget(report: Report, throttling: unknown): TokenBudget | undefined {
  const positive = numberBetween(0.001, 1_000)
  const fields = readIfGiven(report, 'retryThrottling', throttling, { maxTokens: positive, tokenRatio: positive })
  if (fields !== undefined) {
    const { maxTokens, tokenRatio } = fields as { readonly maxTokens: number; readonly tokenRatio: number }
    return { kind: 'tokens', maxTokens, tokenRatio }
  }
  const say = 'is none, and gRPC would limit nothing; here the default budget does'
  report.notCarried.push({ at: 'retryThrottling', is: undefined, say })
  return undefined
}

function readIfGiven(
  report: Report,
  at: string,
  input: unknown,
  shape: Shape,
  required: readonly string[] = Object.keys(shape),
): JsonObject | undefined {
  if (input === undefined) return undefined
  const fields = readFields(report, at, input, shape)
  for (const field of required)
    if (fields[field] === undefined) report.problems.push({ at: `${at}.${field}`, is: undefined, say: 'must be given' })
  return fields
}

function serviceConfig(): Shape {
  const other = 'is not about retries'
  return {
    methodConfig: list,
    retryThrottling: anything,
    loadBalancingPolicy: other,
    loadBalancingConfig: other,
    healthCheckConfig: other,
  }
}

function methodConfig(): Shape {
  return {
    name: list,
    timeout: seconds(1),
    retryPolicy: anything,
    hedgingPolicy: anything,
    waitForReady: 'has no counterpart here: a call that cannot connect has failed',
    maxRequestMessageBytes: 'is not about retries',
    maxResponseMessageBytes: 'is not about retries',
  }
}

function retryFields(): Shape {
  return {
    maxAttempts: attempts(),
    initialBackoff: seconds(1),
    maxBackoff: seconds(1),
    backoffMultiplier: value => (typeof value === 'number' && value > 0 ? undefined : 'a number, more than 0'),
    retryableStatusCodes: codes(1),
  }
}

function hedgingFields(): Shape {
  return { maxAttempts: attempts(), hedgingDelay: seconds(0), nonFatalStatusCodes: codes(0) }
}

function attempts(): FieldCheck {
  return wholeNumber(2, 2 ** 32 - 1)
}

function codes(fewest: 0 | 1): FieldCheck {
  return value =>
    Array.isArray(value) && value.length >= fewest && value.every(findCode)
      ? undefined
      : `a list of ${fewest} or more gRPC status codes, by name or number, OK not among them`
}
