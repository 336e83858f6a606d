import { explainPolicy, type Explanation } from '../retry/explain.ts'
import type { CheckedDefinition } from './definition.ts'

/** What a pipeline will do, before it does it. */
export interface PipelineExplanation extends Explanation {
  /** Its layers, the outermost first, each in a few words. */
  readonly layers: readonly Layer[]
}

export interface Layer {
  readonly name: string
  readonly say: string
}

/**
 * The one order of the layers. The usual canon is wrong in four places: the breaker records once per operation but is
 * asked before every attempt; the bulkhead gives its slot back while the operation waits; the rate limit is charged
 * per attempt, so that retries cannot escape it; limits that learn from latency learn per attempt, so that waits do
 * not enter the samples.
 */
export function explainPipeline<F, A, R>({
  policy,
  sharedBudget,
  adaptiveTimeout,
  code,
}: CheckedDefinition<F, A, R>): PipelineExplanation {
  const { retry, breaker, bulkhead, throttle, limiter, rateLimit, hedge, budget } = policy
  const layers: readonly (Layer | undefined | false | 0)[] = [
    code.fallback && { name: 'fallback', say: 'answers for operations that failed' },
    code.cache && { name: 'cache', say: 'answers before anything is called; no deadline counts for it' },
    { name: 'deadline', say: `${retry.totalBudgetMs} ms for everything below` },
    { name: 'kill switch', say: 'asked before every attempt, and it ends those that wait' },
    breaker && { name: 'breaker', say: 'one event per operation, asked before every attempt' },
    bulkhead && {
      name: 'bulkhead',
      say: `${bulkhead.limit} at a time, ${bulkhead.maxQueued} waiting; a slot is given back during waits`,
    },
    { name: 'retry', say: `${retry.maxAttempts} attempts` },
    throttle && { name: 'throttle', say: `keeps back what a struggling dependency would refuse, per attempt` },
    limiter && {
      name: 'limiter',
      say: `${limiter.kind}, ${limiter.minLimit} to ${limiter.maxLimit} at a time, learned per attempt`,
    },
    rateLimit && { name: 'rate limit', say: `${rateLimit.perSecond} a second, charged per attempt` },
    budget !== false && {
      name: 'budget',
      say: `${sharedBudget === undefined ? 'each key its own' : 'shared with others'}; retries and hedges draw on it`,
    },
    {
      name: 'attempt time-out',
      say: `${retry.attemptTimeoutMs} ms${adaptiveTimeout ? ', less where calls are usually faster' : ''}`,
    },
    hedge && { name: 'hedge', say: `company for slow calls, ${hedge.maxExtraCalls} at the most` },
    code.replicas && { name: 'replicas', say: 'each call to one of its own, not the one that has just failed' },
    code.refresh && { name: 'refresh', say: 'renews what a call was refused for, once per operation' },
    code.gates?.length && { name: 'gates', say: `${code.gates.length} of your own` },
  ]
  // The document was checked when the pipeline was made.
  const { budgetBound, ...explanation } = explainPolicy(policy) as Explanation
  return {
    ...explanation,
    // Of a budget that others draw on too, nobody here knows the bound.
    ...(budgetBound === undefined || sharedBudget !== undefined ? {} : { budgetBound }),
    warnings: [...explanation.warnings, ...(hedge && code.idempotent !== true ? [SELDOM_HEDGED] : [])],
    layers: layers.filter(layer => typeof layer === 'object'),
  }
}

const SELDOM_HEDGED: Explanation['warnings'][number] = {
  kind: 'seldom-hedged',
  level: 'note',
  at: 'hedge',
  say: 'only runs with an idempotency key or idempotent: true have company; say idempotent: true here if all may',
}
