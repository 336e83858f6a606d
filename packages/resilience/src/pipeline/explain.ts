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
  const layers: readonly (Layer | undefined | false)[] = [
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
    hedge && { name: 'hedge', say: `company for slow calls, ${hedge.maxExtraCalls} at the most` },
    {
      name: 'attempt time-out',
      say: `${retry.attemptTimeoutMs} ms${adaptiveTimeout ? ', less where calls are usually faster' : ''}`,
    },
    code.replicas && { name: 'replicas', say: 'each call to one of its own, not the one that has just failed' },
    code.refresh && { name: 'refresh', say: 'renews what a call was refused for, once per operation' },
  ]
  // The document was checked when the pipeline was made.
  const explanation = explainPolicy(policy) as Explanation
  return { ...explanation, layers: layers.filter(layer => layer !== undefined && layer !== false) }
}
