import { DEFAULT_BREAKER, DEFAULT_BUDGET, type BreakerPolicy } from '@secondwind/resilience'
import type { Explanation, PipelinePolicy, RetryPolicy } from '@secondwind/resilience'

export type PointId = `K${number}`

export interface Subject {
  readonly retry: RetryPolicy
  /** Absent: a bare retry policy, which says nothing about the parts around it. */
  readonly pipeline?: PipelinePolicy
  readonly explanation: Explanation
  readonly headroom?: number
}

export interface Finding {
  readonly verdict: 'met' | 'not-met' | 'not-visible'
  /** Why, in the numbers of this policy; for what is not visible, where to look. */
  readonly because: string
}

interface Point {
  readonly id: PointId
  readonly say: string
  readonly judge: (subject: Subject) => Finding
}

const met = (because: string): Finding => ({ verdict: 'met', because })
const notMet = (because: string): Finding => ({ verdict: 'not-met', because })
const notVisible = (because: string): Finding => ({ verdict: 'not-visible', because })
const inCode = (because: string) => (): Finding => notVisible(because)

export const POINTS: readonly Point[] = [
  {
    id: 'K1',
    say: 'every call takes its cancellation and passes it on',
    judge: inCode('in the code: each attempt is handed a signal; see that the call takes it'),
  },
  { id: 'K2', say: 'every call has a time-out of its own', judge: judgeTimeout },
  { id: 'K3', say: 'calls that may be repeated are retried', judge: judgeRetries },
  {
    id: 'K4',
    say: 'calls that may not be repeated carry an idempotency key',
    judge: inCode('in the code: see that every POST and PATCH carries a key'),
  },
  { id: 'K5', say: 'waits are spread by jitter', judge: judgeJitter },
  { id: 'K6', say: 'attempts are limited', judge: judgeAttempts },
  { id: 'K7', say: 'waits are limited', judge: judgeCap },
  { id: 'K8', say: 'a budget limits the retries of all calls together', judge: judgeBudget },
  { id: 'K9', say: 'Retry-After is honoured', judge: judgeRetryAfter },
  { id: 'K10', say: 'each dependency has a breaker', judge: judgeBreaker },
  { id: 'K11', say: 'the breaker does not open by chance', judge: judgeThresholds },
  { id: 'K12', say: 'an open breaker ends the attempts', judge: judgeOpenBreaker },
  {
    id: 'K13',
    say: 'deadlines are handed on to what is called',
    judge: ({ retry }) =>
      notVisible(`in the code: see that what is called learns what is left of ${retry.totalBudgetMs} ms`),
  },
  {
    id: 'K14',
    say: 'retry rate, attempt at success and budget denials are measured',
    judge: inCode('in operation: see that somebody listens to the events'),
  },
  { id: 'K15', say: 'they raise alerts', judge: inCode('in operation: see that an alert has fired once') },
  {
    id: 'K16',
    say: 'retries can be switched off at once',
    judge: inCode('in operation: every attempt asks the kill switch; see that somebody can turn it at night'),
  },
  {
    id: 'K17',
    say: 'the longest an operation can take is written down',
    judge: ({ explanation }) => notVisible(`in the documentation: it is ${explanation.latestFinishMs} ms`),
  },
  {
    id: 'K18',
    say: 'tests cover success, retry, exhaustion, deadline, empty budget and open breaker',
    judge: inCode('in the tests'),
  },
  { id: 'K19', say: 'failures are rehearsed', judge: inCode('in operation: see when the last rehearsal was') },
  { id: 'K20', say: 'there is capacity for what failures add', judge: judgeCapacity },
]

function judgeTimeout({ retry: { attemptTimeoutMs, totalBudgetMs, maxAttempts } }: Subject): Finding {
  return maxAttempts > 1 && attemptTimeoutMs >= totalBudgetMs
    ? notMet(
        `attemptTimeoutMs is ${attemptTimeoutMs}: one call that hangs takes all of totalBudgetMs, ${totalBudgetMs}`,
      )
    : met(`attemptTimeoutMs is ${attemptTimeoutMs}`)
}

function judgeRetries({ retry: { maxAttempts }, explanation }: Subject): Finding {
  if (maxAttempts === 1) return notVisible('maxAttempts is 1: see that the call must not be repeated')
  return explanation.possibleAttempts === 1
    ? notMet('totalBudgetMs ends before the first retry')
    : met(`${maxAttempts - 1} ${maxAttempts === 2 ? 'retry' : 'retries'} after the first call`)
}

function judgeJitter({ retry: { jitterType, maxAttempts }, explanation }: Subject): Finding {
  if (maxAttempts === 1) return met('there are no waits')
  const still = explanation.warnings.find(({ kind }) => kind === 'no-jitter')
  if (still !== undefined) return notMet(`${still.at}: ${still.say}`)
  return met(jitterType === 'FULL' ? 'jitterType is FULL' : `jitterType is ${jitterType}, a stated alternative to FULL`)
}

function judgeAttempts({ retry: { maxAttempts }, explanation }: Subject): Finding {
  return met(
    explanation.maxCalls > maxAttempts
      ? `maxAttempts is ${maxAttempts}; with hedges at most ${explanation.maxCalls} calls`
      : `maxAttempts is ${maxAttempts}`,
  )
}

function judgeCap({ retry: { maxAttempts, maxDelayMs, totalBudgetMs } }: Subject): Finding {
  if (maxAttempts === 1) return met('there are no waits')
  return maxDelayMs > totalBudgetMs
    ? notMet(`maxDelayMs is ${maxDelayMs}, which limits nothing: totalBudgetMs is ${totalBudgetMs}`)
    : met(`maxDelayMs is ${maxDelayMs}`)
}

function judgeBudget({ pipeline, explanation }: Subject): Finding {
  if (pipeline === undefined)
    return met(`without another the library's own: ${DEFAULT_BUDGET.ratio * 100} retries for 100 calls`)
  const { budget } = pipeline
  if (!budget) return notMet('budget is false: nothing but maxAttempts limits the load of an outage')
  if (budget.kind !== 'ratio') return met(`budget is of kind ${budget.kind}`)
  const { budgetBound, maxCalls } = explanation
  if (maxCalls === 1) return met('there are no retries')
  return budgetBound === undefined
    ? notMet(`budget.ratio is ${budget.ratio}: it allows everything that maxAttempts allows`)
    : met(`in a long outage at most ${budgetBound.toFixed(2)} calls for each operation`)
}

function judgeRetryAfter({ retry: { retryableStatusCodes } }: Subject): Finding {
  return [429, 503].some(status => retryableStatusCodes.includes(status))
    ? met('a server that names a wait is never hurried')
    : notMet('neither 429 nor 503 is in retryableStatusCodes: who names a wait is not asked again')
}

function judgeBreaker({ pipeline }: Subject): Finding {
  if (pipeline === undefined) return notVisible('a bare retry policy carries none: see the pipeline')
  return pipeline.breaker ? met(`one for ${pipeline.name}`) : notMet('there is no breaker')
}

/** Fewer calls, or a smaller share of them, are chance; fewer probes are luck. */
const LEAST: Pick<BreakerPolicy, 'minCalls' | 'failureRate' | 'consecutiveFailures' | 'probes'> = {
  minCalls: 10,
  failureRate: DEFAULT_BREAKER.failureRate,
  consecutiveFailures: 5,
  probes: 2,
}

function judgeThresholds(subject: Subject): Finding {
  const breaker = subject.pipeline?.breaker
  if (breaker === undefined) return judgeBreaker(subject)
  const judged: readonly (keyof typeof LEAST)[] =
    breaker.window === 'consecutive' ? ['consecutiveFailures', 'probes'] : ['failureRate', 'minCalls', 'probes']
  const low = judged.filter(field => breaker[field] < LEAST[field])
  return low.length > 0
    ? notMet(low.map(field => `${field} is ${breaker[field]}, less than ${LEAST[field]}`).join('; '))
    : met(judged.map(field => `${field} ${breaker[field]}`).join(', '))
}

function judgeOpenBreaker(subject: Subject): Finding {
  const found = judgeBreaker(subject)
  return found.verdict === 'met' ? met('it is asked before every attempt') : found
}

function judgeCapacity({ explanation, headroom }: Subject): Finding {
  const { budgetBound, maxCalls } = explanation
  const need = budgetBound ?? maxCalls
  const times = (share: number): string => `${Number(share.toFixed(2))} times the usual load`
  // What the window has saved is handed out at once: the bound is that of the minutes, and no promise about the peak.
  const first = budgetBound === undefined ? '' : ', its first second more: see lab run'
  const outage = `a long outage makes ${times(need)}${first}`
  if (headroom === undefined) return notVisible(`in operation: ${outage}`)
  const said = `${times(headroom)} can be served; ${outage}`
  return need <= headroom ? met(said) : notMet(said)
}
