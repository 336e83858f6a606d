import { presets, type Problem } from '@secondwind/resilience'
import { check, checkRetryPolicy } from '@secondwind/resilience/rules'
import type { Method, RetryTaskInput } from '../wire/task.ts'
import { ANY_TEXT, BODY_REF, IDEMPOTENCY_KEY, INSTANT, isHttpUrl, POLICY_ID, TEXT_BY_NAME } from './fields.ts'

/** What can be known of a task to be wrong without asking the service, all at once. */
export function problemsOfTask(task: unknown): Problem[] {
  if (!check.isRecord(task)) return [{ at: '', is: task, say: 'must be an object with a targetUrl' }]
  return [
    ...(task['targetUrl'] === undefined ? [{ at: 'targetUrl', is: undefined, say: `must be ${AN_HTTP_URL}` }] : []),
    ...check.checkFields(task, FIELDS, WRONG_WORDS),
    ...EXCLUSIVE.flatMap(([at, other]) =>
      task[at] !== undefined && task[other] !== undefined
        ? { at, is: task[at], say: `and ${other} exclude each other` }
        : [],
    ),
    ...(check.isRecord(task['policy']) ? problemsOfPolicy(task['policy'], 'policy.') : []),
  ]
}

/** By the defaults that the service fills in: whether a document contradicts itself depends on them. */
export function problemsOfPolicy(policy: unknown, path = ''): Problem[] {
  const { problems = [] } = checkRetryPolicy(policy, presets.service.retry)
  return problems.map(problem => ({ ...problem, at: path + problem.at }))
}

const AN_HTTP_URL = 'an http or https URL without credentials'

const HTTP_URL: check.FieldCheck = value => (typeof value === 'string' && isHttpUrl(value) ? undefined : AN_HTTP_URL)

const METHODS: { readonly [method in Method]: true } = {
  GET: true,
  HEAD: true,
  POST: true,
  PUT: true,
  PATCH: true,
  DELETE: true,
  OPTIONS: true,
}

const FIELDS: { readonly [field in keyof RetryTaskInput]-?: check.FieldCheck } = {
  targetUrl: HTTP_URL,
  method: check.oneOf(...Object.keys(METHODS)),
  headers: TEXT_BY_NAME,
  body: ANY_TEXT,
  bodyBase64: ANY_TEXT,
  bodyRef: BODY_REF,
  policyId: POLICY_ID,
  policy: value => (check.isRecord(value) ? undefined : 'an object with the fields of a policy'),
  idempotencyKey: IDEMPOTENCY_KEY,
  delayMs: check.milliseconds(),
  notBefore: INSTANT,
  deadlineAt: INSTANT,
  attemptsMade: check.wholeNumber(0, 10_000),
  elapsedMs: check.milliseconds(),
  metadata: TEXT_BY_NAME,
  callbackUrl: HTTP_URL,
}

const EXCLUSIVE: readonly (readonly [keyof RetryTaskInput, keyof RetryTaskInput])[] = [
  ['bodyBase64', 'body'],
  ['bodyRef', 'body'],
  ['bodyRef', 'bodyBase64'],
  ['policyId', 'policy'],
  ['delayMs', 'notBefore'],
]

/** What other clients call it. */
const WRONG_WORDS: check.WrongWords = {
  url: 'targetUrl',
  json: 'body: JSON.stringify(…)',
  payload: 'body',
  data: 'body',
  key: 'idempotencyKey',
  delay: 'delayMs',
  runAt: 'notBefore',
  maxAttempts: 'policy: { maxAttempts }',
  timeout: 'policy: { attemptTimeoutMs }',
  signal: 'signal in the second argument',
}
