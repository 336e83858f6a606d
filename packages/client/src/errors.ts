import { describeHistory, historyOf, ResilienceError, type Problem } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { redactText } from './secrets.ts'
import type { ProblemCode, ProblemDetails } from './wire/problem.ts'
import type { TaskStatus } from './wire/task.ts'

/**
 * `unexpected-answer`: whoever answered was not the service, or not as it should; `answer-too-large`: nor did it come to an
 * end.
 */
export type ServiceErrorCode = ProblemCode | 'unexpected-answer' | 'answer-too-large'

export interface ServiceErrorParts extends Partial<Omit<ProblemDetails, 'type' | 'title' | 'status' | 'code'>> {
  /** Method and path. */
  readonly asked: string
  readonly status: number
  readonly code: ServiceErrorCode
  readonly detail: string
  readonly retryAfterMs?: number | undefined
}

/** The service answered, and did not do what it was asked for. */
export class ServiceError extends ResilienceError<ServiceErrorCode> {
  /** Of the answer. */
  readonly status: number
  /** What happened, and what to do about it. */
  readonly detail: string
  /** Everything that was wrong with the request. */
  readonly problems: readonly Problem[]
  /** Names the request in the service's log. */
  readonly requestId: string | undefined
  /** When asking again makes sense, where the service says so. */
  readonly retryAfterMs: number | undefined
  /** The task that stands in the way, and what it is now. */
  readonly taskId: string | undefined
  readonly taskStatus: TaskStatus | undefined

  constructor(parts: ServiceErrorParts) {
    const { asked, status, code, detail, problems = [], requestId, retryAfterMs, taskId, taskStatus } = parts
    super(code, `${redactText(asked)} was answered with ${status} ${code}: ${detail}${check.sayProblems(problems)}`)
    this.status = status
    this.detail = detail
    this.problems = problems
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
    this.taskId = taskId
    this.taskStatus = taskStatus
  }

  override get name(): string {
    return 'ServiceError'
  }
}

/** No answer came from the service; `cause` is what came instead. */
export class UnreachableError extends ResilienceError<'unreachable'> {
  constructor(asked: string, origin: string, cause: unknown) {
    const history = historyOf(cause)
    const tried = history === undefined ? String(cause) : describeHistory(history)
    super('unreachable', `${redactText(asked)} got no answer from ${origin}: ${tried}`, cause)
  }

  override get name(): string {
    return 'UnreachableError'
  }
}
