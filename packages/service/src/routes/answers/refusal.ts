import type { Problem } from '@secondwind/resilience'
import { spreadRetryAfterMs } from '@secondwind/resilience/rules'
import type { TaskStatus } from '../../task/task.ts'
import { redactProblem, redactText } from '../../secrets.ts'

/** Every way to say no. The code is what programs compare; a title never changes, the detail says what happened here. */
export const REFUSALS = {
  'invalid-request': { status: 400, title: 'The request is not what this operation takes' },
  'bad-json': { status: 400, title: 'The body is not valid JSON' },
  'bad-http': { status: 400, title: 'The request is not valid HTTP' },
  'invalid-cursor': { status: 400, title: 'The cursor is none of this list' },
  'no-index': { status: 400, title: 'The store cannot answer this question' },
  'key-missing': { status: 401, title: 'The request has no key' },
  'key-unknown': { status: 401, title: 'The key is not known' },
  'scope-missing': { status: 403, title: 'The key may not do this' },
  'tenant-forbidden': { status: 403, title: 'The key acts for another tenant' },
  'foreign-host': { status: 403, title: 'The request was meant for another host' },
  'foreign-origin': { status: 403, title: 'The request comes from a page of another origin' },
  'route-not-found': { status: 404, title: 'There is no such path' },
  'task-not-found': { status: 404, title: 'There is no such task' },
  'body-not-found': { status: 404, title: 'There is no such body' },
  'body-damaged': { status: 404, title: 'The bytes of the body are not those that were uploaded' },
  'tenant-not-found': { status: 404, title: 'There is no such tenant' },
  'key-not-found': { status: 404, title: 'There is no such key' },
  'secret-not-found': { status: 404, title: 'There is no such secret' },
  'control-not-found': { status: 404, title: 'There is no such control' },
  'destination-not-found': { status: 404, title: 'There is no such destination' },
  'policy-not-found': { status: 404, title: 'There is no such policy' },
  'replay-not-found': { status: 404, title: 'There is no such replay' },
  'method-not-allowed': { status: 405, title: 'The path does not take this method' },
  'not-acceptable': { status: 406, title: 'The answer would be JSON, which the request does not accept' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  'name-taken': { status: 409, title: 'The name belongs to another destination' },
  'write-conflict': { status: 409, title: 'Somebody else changed it at the same moment' },
  'wrong-status': { status: 409, title: 'The status of the task does not allow it' },
  'wrong-replay-status': { status: 409, title: 'The status of the replay does not allow it' },
  'tenant-exists': { status: 409, title: 'The tenant is there already' },
  'secret-exists': { status: 409, title: 'There is a secret for it already' },
  'last-admin': { status: 409, title: 'Nobody could manage keys' },
  'version-changed': { status: 412, title: 'It is no longer the version that was read' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'batch-too-large': { status: 413, title: 'The batch has too many items' },
  'url-too-long': { status: 414, title: 'The address of the request is too long' },
  'unsupported-media-type': { status: 415, title: 'The body has a type or an encoding that is not read here' },
  'idempotency-conflict': { status: 422, title: 'The key belongs to another request' },
  'target-forbidden': { status: 422, title: 'The target must not be called' },
  'backlog-full': { status: 429, title: 'Too many tasks wait already' },
  'bodies-full': { status: 429, title: 'Too many bytes of large bodies are kept already' },
  'too-many': { status: 429, title: 'There are as many as there may be' },
  'intake-limited': { status: 429, title: 'Tasks come in too fast' },
  'too-many-replays': { status: 429, title: 'There are too many replays already' },
  'too-many-requests': { status: 429, title: 'Too many requests are under way' },
  'too-many-listeners': { status: 429, title: 'Too many callers listen to events' },
  'headers-too-large': { status: 431, title: 'The headers of the request are too large' },
  'internal-error': { status: 500, title: 'Something went wrong in the service itself' },
  'intake-off': { status: 503, title: 'No tasks are taken in at present' },
  draining: { status: 503, title: 'No tasks are taken in for this destination' },
  'not-ready': { status: 503, title: 'The service cannot work now' },
  'store-full': { status: 503, title: 'The store has no room left' },
  'store-read-only': { status: 503, title: 'The store cannot be written to' },
  'store-corrupt': { status: 503, title: 'The store is damaged' },
  'store-closed': { status: 503, title: 'The store is closed' },
  'store-in-use': { status: 503, title: 'The store is in use by another process' },
  'store-unreachable': { status: 503, title: 'The store cannot be reached' },
} as const

export type RefusalCode = keyof typeof REFUSALS

export interface RefusalParts {
  /** What happened here, and what to do about it. */
  readonly detail: string
  /** Where it is not what the code usually has: a policy that a task names is part of what was sent, not what was asked for. */
  readonly status?: number
  readonly problems?: readonly Problem[]
  readonly headers?: { readonly [name: string]: string }
  /** The task that stands in the way, and what it is now. */
  readonly taskId?: string
  readonly taskStatus?: TaskStatus
}

/** Why a request is not done as it was asked for. Thrown by whoever finds out, answered in one place. */
export class Refusal extends Error {
  readonly code: RefusalCode
  readonly status: number
  readonly parts: RefusalParts

  constructor(code: RefusalCode, parts: RefusalParts) {
    super(parts.detail)
    this.name = 'Refusal'
    this.code = code
    this.status = parts.status ?? REFUSALS[code].status
    this.parts = parts
  }
}

/** RFC 9457, with a stable `code` and every problem at once. */
export interface ProblemDetails {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: RefusalCode
  readonly problems?: readonly Problem[]
  readonly taskId?: string
  readonly taskStatus?: TaskStatus
  readonly requestId: string
}

export const PROBLEM_JSON = 'application/problem+json'

/** Whoever has more of them has sent something else altogether. */
const MOST_PROBLEMS = 100

export function problemDetails(
  { code, status, parts }: Refusal,
  requestId: string,
  mostProblems: number = MOST_PROBLEMS,
): ProblemDetails {
  const { detail, problems, taskId, taskStatus } = parts
  return {
    type: `/errors#${code}`,
    title: REFUSALS[code].title,
    status,
    detail: redactText(detail),
    code,
    ...(problems !== undefined && { problems: problems.slice(0, mostProblems).map(redactProblem) }),
    ...(taskId !== undefined && { taskId }),
    ...(taskStatus !== undefined && { taskStatus }),
    requestId,
  }
}

type ComeBack = { readonly 'retry-after': string }

/** Those who are turned away together must not come back together. The wait is a guess: up to twice as long, as the die says. */
export function comeBackAfter(waitMs: number, roll: number): ComeBack {
  return retryAfter(waitMs * (1 + roll))
}

/** Where it is known how long it lasts nobody waits for much longer: spread as all are who keep to a `Retry-After`. */
export function comeBackOnceOver(leftMs: number, roll: number): ComeBack {
  return retryAfter(spreadRetryAfterMs(leftMs, roll))
}

function retryAfter(waitMs: number): ComeBack {
  return { 'retry-after': String(Math.ceil(waitMs / 1_000)) }
}

/** What somebody else said, as a sentence of its own; the name of a file at its beginning stays what it is. */
export function sentence(text: string): string {
  const first = text.slice(0, 1)
  return `${/^\S+[./]\S/.test(text) ? first : first.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}
