import {
  classifyError,
  decide,
  type GiveUpReason,
  type Moment,
  type Outcome,
  type RetryPolicy,
} from '@secondwind/resilience'
import { classifyResponse, laneKind } from '@secondwind/resilience/rules'
import { isByHand } from './lane.ts'
import type { AttemptEnd, AttemptRow, CapturedResponse, ClaimedTask, HeldBack, Progress, Queue } from './task.ts'
import type { TargetAnswer } from '../targets/target.ts'

/** What came of one attempt. */
export interface AttemptResult extends Omit<AttemptEnd, 'outcome'> {
  readonly startedAt: number
  readonly durationMs: number
  readonly outcome: Outcome
  readonly response?: CapturedResponse
}

/** The end of a claim, as the store writes it: all of it or nothing. */
export interface Settlement {
  readonly taskId: string
  readonly token: string
  /** Absent when nothing was sent: then nothing counts. */
  readonly attempt?: AttemptRow
  readonly next: Next
}

export type Next =
  | { readonly status: 'PENDING'; readonly dueAt: number; readonly queue: Queue; readonly progress: Progress }
  | { readonly status: 'SUCCEEDED'; readonly progress: Progress }
  | {
      readonly status: 'EXHAUSTED'
      readonly reason: GiveUpReason
      /** A gate held it until its deadline. */
      readonly held?: HeldBack
      readonly progress: Progress
    }

/** A request that takes its sender down five times in a row will do so again. */
const MOST_LOST = 5

/** What follows an attempt. */
export function settle(task: ClaimedTask, policy: RetryPolicy, result: AttemptResult, moment: Moment): Settlement {
  const { progress } = task
  const attempt = progress.attemptNumber + 1
  const lostCount = result.errorCode === 'lost' ? progress.lostCount + 1 : 0
  const counted = { ...progress, attemptNumber: attempt, lostCount }
  const state = { ...progress, attempt, deadlineAt: progress.expiresAt }
  return {
    taskId: task.taskId,
    token: task.lease.token,
    attempt: rowOf(task, attempt, result),
    next:
      lostCount >= MOST_LOST
        ? exhausted('lost', counted)
        : nextOf(task, counted, decide(policy, state, result.outcome, moment)),
  }
}

/** The end of a task whose deadline passed before it could be sent; `held` where a gate held it until then. */
export function expire({ taskId, lease, progress }: ClaimedTask, held?: HeldBack): Settlement {
  const next = { ...exhausted('deadline', progress), ...(held !== undefined && { held }) }
  return { taskId, token: lease.token, next }
}

/** The end of a claim that nothing was sent under, by nobody's fault but ours: the task stands where it stood. */
export function putBack({ taskId, lease, progress, queue, dueAt }: ClaimedTask): Settlement {
  return { taskId, token: lease.token, next: { status: 'PENDING', dueAt, queue, progress } }
}

/** The end of a task that cannot be sent at all, for a reason that time does not mend. */
export function abandon({ taskId, lease, progress }: ClaimedTask, reason: GiveUpReason): Settlement {
  return { taskId, token: lease.token, next: exhausted(reason, progress) }
}

/** An attempt whose instance was never heard of again: it may have been carried out, so it counts. */
export function lostResult(startedAt: number, endedAt: number): AttemptResult {
  return {
    startedAt,
    durationMs: Math.max(0, endedAt - startedAt),
    outcome: { kind: 'failure', fault: 'ambiguous' },
    errorCode: 'lost',
    errorMessage: 'the instance that made this attempt stopped before it could say how it ended',
  }
}

function nextOf(task: ClaimedTask, progress: Progress, decision: ReturnType<typeof decide>): Next {
  switch (decision.kind) {
    case 'done':
      return { status: 'SUCCEEDED', progress }
    case 'give-up':
      return exhausted(decision.reason, progress)
    case 'retry':
      return {
        status: 'PENDING',
        dueAt: decision.at,
        // An urgent attempt is one attempt; a replay stays behind live traffic to its end.
        queue: {
          ...task.queue,
          kind: laneKind.kindAfter(progress.attemptNumber),
          rank: isByHand(task.queue.rank) ? 'normal' : task.queue.rank,
        },
        progress: { ...progress, previousDelayMs: decision.state.previousDelayMs },
      }
  }
}

function exhausted(reason: GiveUpReason, progress: Progress): Extract<Next, { readonly status: 'EXHAUSTED' }> {
  return { status: 'EXHAUSTED', reason, progress }
}

function rowOf(task: ClaimedTask, attemptNumber: number, result: AttemptResult): AttemptRow {
  const { outcome } = result
  return {
    ...result,
    taskId: task.taskId,
    generation: task.progress.generation,
    attemptNumber,
    outcome: outcome.kind === 'success' ? 'success' : outcome.fault,
  }
}

type WhatCame = Omit<AttemptResult, 'startedAt' | 'durationMs'>

/** What says something of the target. */
export type Telling = Exclude<TargetAnswer, { readonly kind: 'not-tried' }>

/** What a target's answer means, by the library's own rules; `now` is wall time, for waits that are given as a date. */
export function readAnswer(answer: Telling, policy: RetryPolicy, now: number): WhatCame {
  if (answer.kind === 'answered') {
    const { status, response } = answer
    const outcome = outcomeOfStatus(answer, policy, now)
    const isGood = outcome.kind === 'success'
    const error = { errorCode: `http-${status}`, errorMessage: sayStatus(status) }
    return { outcome, responseStatus: status, response, ...(!isGood && error) }
  }
  const { errorCode, errorMessage } = answer
  return { outcome: outcomeOfFailure(answer, policy, now), errorCode, errorMessage }
}

/** An attempt that was cut off from here: whatever it had begun may have been carried out. */
export function cutOff(errorCode: string, errorMessage: string): WhatCame {
  return { outcome: { kind: 'failure', fault: 'ambiguous' }, errorCode, errorMessage }
}

type Answered = Extract<TargetAnswer, { kind: 'answered' }>

function outcomeOfStatus({ status, headers }: Answered, policy: RetryPolicy, now: number): Outcome {
  // A redirect is an answer for whoever wrote the address: followed, a body could go to where nobody meant it to.
  const isRedirect = status >= 300 && status < 400 && !policy.retryableStatusCodes.includes(status)
  return isRedirect
    ? { kind: 'failure', fault: 'permanent' }
    : classifyResponse({ status, headers }, policy.retryableStatusCodes, now)
}

function sayStatus(status: number): string {
  return status >= 300 && status < 400
    ? `the target answered ${status}; redirects are not followed`
    : `the target answered ${status}`
}

type Failed = Extract<TargetAnswer, { kind: 'failed' }>

function outcomeOfFailure({ error, errorCode, unsent }: Failed, policy: RetryPolicy, now: number): Outcome {
  if (errorCode === 'target-forbidden' || errorCode === 'target-invalid') return { kind: 'failure', fault: 'permanent' }
  if (unsent) return { kind: 'failure', fault: 'transient', unsent: true }
  const outcome = classifyError(error, policy.retryableStatusCodes, now)
  // It was on its way when something broke that the library has no name for; nor was it our caller who went away.
  return outcome.unknown || outcome.fault === 'ignored' ? { kind: 'failure', fault: 'ambiguous' } : outcome
}
