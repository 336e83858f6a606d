import { classifyError, type Outcome, type RetryPolicy } from '@secondwind/resilience'
import { classifyResponse } from '@secondwind/resilience/rules'
import type { TargetAnswer } from '../targets/target.ts'
import type { AttemptResult } from '../task/settle.ts'

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
