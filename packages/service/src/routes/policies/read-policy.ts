import { presets, type Problem, type RetryPolicy } from '@secondwind/resilience'
import { check, checkRetryPolicy, type RetryPolicyCheck } from '@secondwind/resilience/rules'
import { INLINE_POLICY } from '../../task/accept.ts'
import { POLICY_ID } from '../schemas/fields.ts'

/** The policy of tasks that name none, as version 1 of it was written. */
export const DEFAULT_POLICY_ID = 'default'

/** What a document leaves out is as in the policy `default` that the service came with, whatever became of it since. */
const { policyId: _, ...SERVICE_DEFAULTS } = presets.service.retry

/** A lease is as long as an attempt may be; the store must notice a dead instance within a few minutes. */
const LONGEST_ATTEMPT_MS = 300_000

/** What else a pipeline's document has: it belongs to a destination, and one destination serves many policies. */
const PIPELINE_PARTS = ['hedge', 'budget', 'breaker', 'bulkhead', 'rateLimit', 'limiter', 'throttle']

/** The document with every default filled in, or everything that is wrong with it, by the library's own rules. */
export function readPolicy(input: unknown, path = ''): RetryPolicyCheck {
  const { retry, below, problems: misplaced } = retryPart(input)
  const checked = checkRetryPolicy(retry, SERVICE_DEFAULTS)
  const problems = [
    ...misplaced,
    ...[...(checked.problems ?? []), ...tooLong(checked.policy ?? retry)].map(problem => ({
      ...problem,
      at: join(below, problem.at),
    })),
  ]
  if (checked.policy !== undefined && problems.length === 0) return { policy: ordered(checked.policy) }
  return { problems: problems.map(problem => ({ ...problem, at: join(path, problem.at) })) }
}

export type NamedPolicy = RetryPolicy & { readonly policyId: string }

export type NamedPolicyCheck =
  | { readonly policy: NamedPolicy; readonly problems?: undefined }
  | { readonly policy?: undefined; readonly problems: readonly Problem[] }

/** The same of a document that is kept under its name, which is part of it. */
export function readNamedPolicy(input: unknown): NamedPolicyCheck {
  const { policy, problems = [] } = readPolicy(input)
  const { retry } = retryPart(input)
  const misnamed = check.isRecord(retry) ? checkPolicyId(retry['policyId']) : []
  if (policy !== undefined && misnamed.length === 0) return { policy: policy as NamedPolicy }
  const others = misnamed.length === 0 ? problems : problems.filter(({ at }) => !/(?:^|\.)policyId$/.test(at))
  return { problems: [...others, ...misnamed] }
}

/** The name that a named policy must have. */
export function checkPolicyId(policyId: unknown): Problem[] {
  const wrong = (say: string): Problem[] => [{ at: 'policyId', is: policyId, say }]
  if (policyId === undefined) return wrong('must be given: a policy is kept under its name')
  if (typeof policyId !== 'string' || !new RegExp(POLICY_ID).test(policyId))
    return wrong('must be a name of 1 to 100 letters, digits, dots, dashes and underscores')
  return policyId === INLINE_POLICY ? wrong('is reserved for tasks that bring a policy of their own') : []
}

interface RetryPart {
  readonly retry: unknown
  /** Where it stood. */
  readonly below: string
  readonly problems: readonly Problem[]
}

/** A pipeline's document is read too, as far as it is a policy: its name stands for the policy's. */
function retryPart(input: unknown): RetryPart {
  if (!check.isRecord(input) || !isPipeline(input)) return { retry: input, below: '', problems: [] }
  const { name, retry, ...parts } = input
  const problems = Object.entries(parts).map(([at, is]) => ({ at, is, say: sayMisplaced(at) }))
  const named = check.isRecord(retry) && name !== undefined ? { policyId: name, ...retry } : retry
  return { retry: named, below: 'retry', problems }
}

function isPipeline(input: object): boolean {
  return ['name', 'retry', ...PIPELINE_PARTS].some(field => Object.hasOwn(input, field))
}

function sayMisplaced(field: string): string {
  if (field === 'breaker')
    return 'is not for the service, where each destination has credit in its place: see limits.credit'
  return PIPELINE_PARTS.includes(field)
    ? 'belongs to a destination, not to a policy: here only what stands in retry is kept'
    : 'is an unknown field; what belongs to a policy stands in retry'
}

/** Of a document that may be wrong in other ways as well. */
function tooLong(policy: unknown): Problem[] {
  const { attemptTimeoutMs } = check.isRecord(policy) ? policy : {}
  // What no policy may have, the library has told.
  if (!Number.isInteger(attemptTimeoutMs) || Number(attemptTimeoutMs) <= LONGEST_ATTEMPT_MS) return []
  return [{ at: 'attemptTimeoutMs', is: attemptTimeoutMs, say: `must be at most ${LONGEST_ATTEMPT_MS} in the service` }]
}

/** The same document in the same order, whatever the order in which it was written. */
function ordered({ policyId, delaysMs, inProcess, ...always }: RetryPolicy): RetryPolicy {
  const { maxAttempts, totalBudgetMs } = inProcess ?? {}
  return {
    ...(policyId !== undefined && { policyId }),
    ...always,
    ...(delaysMs !== undefined && { delaysMs }),
    ...(inProcess !== undefined && {
      inProcess: {
        ...(maxAttempts !== undefined && { maxAttempts }),
        ...(totalBudgetMs !== undefined && { totalBudgetMs }),
      },
    }),
  }
}

function join(path: string, at: string): string {
  return [path, at].filter(part => part !== '').join('.')
}
