import type { Problem, RetryPolicy } from '@secondwind/resilience'
import { LONGEST_MS } from '../schemas/fields.ts'
import type { TaskInput } from '../schemas/task-input.ts'

type Given = Partial<TaskInput>

/** What each field alone cannot see: with another one, with the policy, with the clock. */
export function contradictions(given: Given, policy: RetryPolicy | undefined, now: number): Problem[] {
  const problems: Problem[] = []
  const wrong = (at: keyof Given, say: string): unknown => problems.push({ at, is: given[at], say })
  if (given.policyId !== undefined && given.policy !== undefined) wrong('policyId', 'and policy exclude each other')
  checkTimes(given, now, wrong)
  if (policy !== undefined) checkHandOver(given, policy, wrong)
  return problems
}

type Found = (at: keyof Given, say: string) => unknown

function checkTimes({ delayMs, notBefore, deadlineAt = Infinity }: Given, now: number, wrong: Found): void {
  const firstAt = Math.max(now, notBefore ?? now + (delayMs ?? 0))
  if (delayMs !== undefined && notBefore !== undefined) wrong('delayMs', 'and notBefore exclude each other')
  if (firstAt > now + LONGEST_MS) wrong('notBefore', 'must be within ten years')
  if (deadlineAt <= now) wrong('deadlineAt', `must be in the future; the service's clock says ${now}`)
  else if (deadlineAt <= firstAt) wrong('deadlineAt', `must be later than the first attempt, ${firstAt}`)
}

/** Attempts and time that were spent in process are part of the whole: something must be left of it. */
function checkHandOver({ attemptsMade = 0, elapsedMs = 0 }: Given, policy: RetryPolicy, wrong: Found): void {
  const { maxAttempts, totalBudgetMs } = policy
  if (attemptsMade >= maxAttempts)
    wrong('attemptsMade', `leaves no attempt: maxAttempts of the policy is ${maxAttempts}`)
  if (elapsedMs >= totalBudgetMs) wrong('elapsedMs', `leaves no time: totalBudgetMs of the policy is ${totalBudgetMs}`)
}
