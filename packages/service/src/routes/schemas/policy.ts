import { presets, type BackoffType, type JitterType, type RetryPolicy } from '@secondwind/resilience'
import { Type, type TSchema } from 'typebox'
import { policyIdField } from './fields.ts'
import { schemaOf, type Schema, namesOf, wordOf } from './schema.ts'

const BACKOFF_TYPES: { readonly [type in BackoffType]: true } = {
  EXPONENTIAL: true,
  LINEAR: true,
  FIXED: true,
  FIBONACCI: true,
  CUSTOM: true,
}
const JITTER_TYPES: { readonly [type in JitterType]: true } = {
  NONE: true,
  FULL: true,
  EQUAL: true,
  DECORRELATED: true,
  PROPORTIONAL: true,
}

const whole = (description: string): TSchema => Type.Integer({ description })

/** Kinds of values only: what they may be is said by the library, and by nobody else. */
const FIELDS: { readonly [field in keyof Required<RetryPolicy>]: TSchema } = {
  policyId: policyIdField,
  maxAttempts: whole('All calls, the first one included.'),
  backoffType: wordOf(namesOf(BACKOFF_TYPES)),
  initialDelayMs: whole('The wait before the first retry, before jitter.'),
  multiplier: Type.Number({ description: 'Growth of `EXPONENTIAL`.' }),
  minDelayMs: whole('No wait is shorter, jitter included.'),
  maxDelayMs: whole('No wait of our own is longer before jitter.'),
  delaysMs: Type.Array(Type.Integer(), { description: 'The waits of `CUSTOM`, the last one repeating.' }),
  totalBudgetMs: whole('The deadline: the whole of a task ends within it.'),
  attemptTimeoutMs: whole('One attempt ends within it; at most 300 000.'),
  jitterType: wordOf(namesOf(JITTER_TYPES)),
  jitterRatio: Type.Number({ description: 'Half-width of `PROPORTIONAL`.' }),
  retryableStatusCodes: Type.Array(Type.Integer()),
  inProcess: Type.Object(
    { maxAttempts: Type.Optional(Type.Integer()), totalBudgetMs: Type.Optional(Type.Integer()) },
    { description: 'The share that is spent in process before a hand-over.' },
  ),
}

const EXAMPLE = {
  policyId: 'payments',
  maxAttempts: 8,
  initialDelayMs: 1_000,
  multiplier: 2,
  maxDelayMs: 60_000,
  totalBudgetMs: 3_600_000,
  jitterType: 'FULL',
  retryableStatusCodes: [429, 500, 502, 503, 504],
}

/** Any part of a policy; the rest is that of the policy `default`. */
export const RETRY_POLICY_INPUT: TSchema = Type.Object(
  Object.fromEntries(Object.entries(FIELDS).map(([field, schema]) => [field, Type.Optional(schema)])),
  { $id: 'RetryPolicyInput', examples: [EXAMPLE] },
)

const { delaysMs, inProcess, ...always } = FIELDS

export const RETRY_POLICY: Schema<unknown> = schemaOf(
  Type.Object(
    {
      ...always,
      delaysMs: Type.Optional(delaysMs),
      inProcess: Type.Optional(inProcess),
      version: Type.Integer({ description: 'Grows with every other document of this name.' }),
      createdAt: Type.Integer(),
    },
    { $id: 'RetryPolicy', examples: [{ ...presets.service.retry, version: 1, createdAt: 1_767_225_600_000 }] },
  ),
)
