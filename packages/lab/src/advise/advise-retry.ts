import { explainPolicy, presets, type RetryPolicy } from '@secondwind/resilience'
import { isRepeatable, type Answers, type Reason } from './answers.ts'

/** How often, how far apart, and how long each: one number follows from the other, so they are chosen together. */
export function adviseRetry(answers: Answers): Reason[] {
  const deadline = adviseDeadline(answers)
  const totalBudgetMs = Number(deadline.is)
  if (!isRepeatable(answers)) return onlyOnce(deadline)
  const initialDelay = adviseInitialDelay(answers, totalBudgetMs)
  const maxDelay = adviseMaxDelay(answers, totalBudgetMs)
  const waits = { totalBudgetMs, initialDelayMs: Number(initialDelay.is), maxDelayMs: Number(maxDelay.is) }
  const wanted = adviseAttempts(answers)
  const maxAttempts = fittingAttempts(Number(wanted.is), waits)
  return [
    maxAttempts < Number(wanted.is)
      ? { at: wanted.at, is: maxAttempts, because: 'more would not fit into the deadline when calls hang' }
      : wanted,
    { at: 'retry.backoffType', is: 'EXPONENTIAL', because: 'a dependency that stays down is asked less and less' },
    initialDelay,
    { at: 'retry.multiplier', is: 2, because: 'twice as long each time' },
    maxDelay,
    { at: 'retry.jitterType', is: 'FULL', because: 'callers that failed together do not come back together' },
    deadline,
    adviseTimeout(answers, maxAttempts, waits),
  ]
}

function onlyOnce(deadline: Reason): Reason[] {
  const because = 'the call that got no answer may have been carried out: it must not be repeated without a key'
  return [
    { at: 'retry.maxAttempts', is: 1, because },
    deadline,
    { at: 'retry.attemptTimeoutMs', is: deadline.is, because: 'the only attempt has all the time there is' },
  ]
}

function usual({ userFacing }: Answers): RetryPolicy {
  return userFacing ? presets.userFacing.retry : presets.background.retry
}

function adviseDeadline(answers: Answers): Reason {
  const at = 'retry.totalBudgetMs'
  if (answers.latencyBudgetMs !== undefined)
    return { at, is: answers.latencyBudgetMs, because: 'so long the caller can wait for all of it' }
  const because = answers.userFacing ? 'after that the person has pressed reload' : 'nobody waits: today is soon enough'
  return { at, is: usual(answers).totalBudgetMs, because }
}

function adviseAttempts({ userFacing, critical }: Answers): Reason {
  const at = 'retry.maxAttempts'
  if (userFacing)
    return critical
      ? {
          at,
          is: presets.userFacing.retry.maxAttempts,
          because: 'two second chances: a failure costs more than a wait',
        }
      : { at, is: 2, because: 'one second chance; after that a person is better told than kept waiting' }
  return critical
    ? { at, is: presets.background.retry.maxAttempts, because: 'enough to outlast an outage: a failure costs more' }
    : { at, is: 5, because: 'enough for a restart; what is not critical need not outlast an outage' }
}

/** A wait after which a limit has refilled, or a packet has been to another region and back. */
const LIMITED_DELAY_MS = 1_000
const REGION_DELAY_MS = 200

function adviseInitialDelay(answers: Answers, totalBudgetMs: number): Reason {
  const at = 'retry.initialDelayMs'
  const { initialDelayMs } = usual(answers)
  const wanted = answers.rateLimited
    ? { is: Math.max(initialDelayMs, LIMITED_DELAY_MS), because: 'most limits refill by the second' }
    : answers.otherRegion
      ? { is: Math.max(initialDelayMs, REGION_DELAY_MS), because: 'a round trip to another region takes as long' }
      : { is: initialDelayMs, because: 'longer than a hiccup' }
  const mostMs = Math.max(1, Math.floor(totalBudgetMs / 10))
  return wanted.is > mostMs
    ? { at, is: mostMs, because: 'a tenth of the deadline: the calls need the rest' }
    : { at, ...wanted }
}

function adviseMaxDelay(answers: Answers, totalBudgetMs: number): Reason {
  const at = 'retry.maxDelayMs'
  const { maxDelayMs } = usual(answers)
  const mostMs = Math.max(1, Math.floor(totalBudgetMs / 4))
  if (maxDelayMs > mostMs) return { at, is: mostMs, because: 'a quarter of the deadline: no single wait takes it all' }
  return { at, is: maxDelayMs, because: 'so late at the most is a recovery noticed' }
}

type Waits = Pick<RetryPolicy, 'totalBudgetMs' | 'initialDelayMs' | 'maxDelayMs'>

/** As many attempts as leave each a tenth of the deadline, even when every wait is the longest. */
function fittingAttempts(wanted: number, waits: Waits): number {
  for (let maxAttempts = wanted; maxAttempts > 1; maxAttempts--)
    if (roomForEachMs(maxAttempts, waits) * 10 >= waits.totalBudgetMs || roomForEachMs(maxAttempts, waits) >= ENOUGH_MS)
      return maxAttempts
  return 1
}

/** A call that takes longer than a minute is not waiting for an answer any more. */
const ENOUGH_MS = presets.background.retry.attemptTimeoutMs

function adviseTimeout(answers: Answers, maxAttempts: number, waits: Waits): Reason {
  const at = 'retry.attemptTimeoutMs'
  const { attemptTimeoutMs } = usual(answers)
  const roomMs = roomForEachMs(maxAttempts, waits)
  return roomMs < attemptTimeoutMs
    ? { at, is: Math.max(1, roomMs), because: 'all attempts fit into the deadline, even when each of them hangs' }
    : { at, is: attemptTimeoutMs, because: 'a call that hangs leaves time for another' }
}

function roomForEachMs(maxAttempts: number, { totalBudgetMs, initialDelayMs, maxDelayMs }: Waits): number {
  // Asked without a deadline of its own: what is wanted is what the waits take if they are let.
  const unhurried = { maxAttempts, initialDelayMs, maxDelayMs, totalBudgetMs: maxAttempts * maxDelayMs + totalBudgetMs }
  const explained = explainPolicy(unhurried)
  const waitsMs = explained.problems === undefined ? explained.totalWait.longestMs : totalBudgetMs
  return Math.floor((totalBudgetMs - waitsMs) / maxAttempts)
}
