import type { Problem, RetryPolicyInput } from '@secondwind/resilience'
import type { FetchOptions } from '@secondwind/resilience/fetch'
import { check, checkRetryPolicy } from '@secondwind/resilience/rules'
import { isHttpUrl, refusal, refuse, SIGNAL, TEXT_BY_NAME } from './check/fields.ts'
import { TENANT } from './access/tenants.ts'
import { DEFAULT_CLIENT_POLICY } from './policy.ts'
import { REDACTED } from './secrets.ts'
import type { TextByName } from './wire/task.ts'

export interface ClientOptions extends Pick<FetchOptions, 'fetch' | 'telemetry' | 'ports'> {
  /** Where the service is, as `http://127.0.0.1:4747`; a path that a proxy has put in front is kept. */
  readonly url: string | URL
  /** Fields that replace those of `DEFAULT_CLIENT_POLICY`, by which the client retries its own calls. */
  readonly policy?: RetryPolicyInput
  /** What lets you in, where the service has keys: `swk_…`. */
  readonly key?: string
  /** Of an operator's key: the tenant that it acts for. */
  readonly tenant?: string
  /** Sent with every call: what a proxy in front of the service asks for. */
  readonly headers?: TextByName
  /** The longest answer that is read, 64 MiB unless told: longer ones are refused with `answer-too-large`. */
  readonly maxAnswerBytes?: number
  /** Ends every call of this client. */
  readonly signal?: AbortSignal
}

/** Throws if `createClient` was given something it cannot use; everything that is wrong at once. */
export function checkClientOptions(options: unknown): asserts options is ClientOptions {
  if (!check.isRecord(options))
    throw refusal('createClient cannot use its options', [
      { at: 'options', is: options, say: 'must be an object with the url of the service' },
    ])
  const { problems = [] } = checkRetryPolicy({ ...DEFAULT_CLIENT_POLICY, ...check.withoutUndefined(policyOf(options)) })
  refuse('createClient cannot use its options', [
    ...(options['url'] === undefined ? [{ at: 'url', is: undefined, say: `must be ${URL_OF_SERVICE}` }] : []),
    ...check.checkFields(options, FIELDS, WRONG_WORDS).map(withoutKey),
    ...problems.map(problem => ({ ...problem, at: `policy.${problem.at}` })),
  ])
}

/** What cannot be a key may still be a secret. */
function withoutKey(problem: Problem): Problem {
  return problem.at === 'key' ? { ...problem, is: REDACTED } : problem
}

function policyOf(options: { readonly [option: string]: unknown }): object {
  return check.isRecord(options['policy']) ? options['policy'] : {}
}

const URL_OF_SERVICE = 'the http or https URL of the service, such as http://127.0.0.1:4747, without a query'

const KEY = 'a key as it was shown: visible ASCII characters, without a space'

const FIELDS: { readonly [option in keyof ClientOptions]-?: check.FieldCheck } = {
  url: value => (isHttpUrl(value) && !/[?#]/.test(String(value)) ? undefined : URL_OF_SERVICE),
  policy: value => (check.isRecord(value) ? undefined : 'an object with the fields of a policy'),
  headers: value =>
    TEXT_BY_NAME(value) ?? (areHeaders(value as TextByName) ? undefined : 'names and values that HTTP has'),
  key: value => (typeof value === 'string' && /^[\x21-\x7e]{1,512}$/.test(value) ? undefined : KEY),
  tenant: TENANT,
  maxAnswerBytes: check.wholeNumber(1_024, 1_073_741_824),
  signal: SIGNAL,
  fetch: value => (typeof value === 'function' ? undefined : 'a function'),
  telemetry: value => (typeof value === 'function' ? undefined : 'a function'),
  ports: value => (check.isRecord(value) ? undefined : 'an object'),
}

function areHeaders(given: TextByName): boolean {
  try {
    return new Headers(given) instanceof Headers
  } catch {
    return false
  }
}

const WRONG_WORDS: check.WrongWords = {
  baseUrl: 'url',
  baseURL: 'url',
  endpoint: 'url',
  apiKey: 'key',
  token: 'key',
  timeout: 'policy: { attemptTimeoutMs, totalBudgetMs }',
  timeoutMs: 'policy: { attemptTimeoutMs, totalBudgetMs }',
  retries: 'policy: { maxAttempts }, which counts all calls (retries + 1)',
  maxAttempts: 'policy: { maxAttempts }',
}
