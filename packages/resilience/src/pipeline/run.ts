import { refuseProblems } from '../errors.ts'
import { systemClock } from '../ports/system-clock.ts'
import { replicas, Replicas, type AnyReplica } from '../replicas/run.ts'
import { judgeValue } from '../retry/judge.ts'
import type { Attempt, Work } from '../retry/options.ts'
import { begin } from '../retry/run.ts'
import { Cache } from './cache.ts'
import {
  checkDefinition,
  isCode,
  wrongRun,
  type CheckedDefinition,
  type PipelineDefinition,
  type RunOptions,
} from './definition.ts'
import { explainPipeline, type PipelineExplanation } from './explain.ts'
import { withFallback } from './fallback.ts'
import { Keys } from './keys.ts'
import { Parts, type Shared } from './parts.ts'
import type { PipelinePolicy, PipelinePolicyInput } from './policy.ts'
import { Refresher } from './refresh.ts'
import { checkPipelineSnapshot, type PipelineSnapshot } from './snapshot.ts'

/**
 * Everything that surrounds the calls to one dependency, in the one order that makes sense: create it once and share it.
 * What counts, limits or remembers is each key's own, so that one bad host does not shut out the others.
 */
export function pipeline<F = never, A = never, const R = undefined>(
  definition: PipelineDefinition<F, A, R>,
): Pipeline<F, A, R> {
  return new Pipeline(definition)
}

/** Parts of a document: what is `undefined` goes. */
export type PipelineChange = { readonly [Part in keyof PipelinePolicyInput]?: PipelinePolicyInput[Part] | undefined }

/** What a run may have in place of its result. */
type Answer<T, F, A> = Promise<T | F | A>

/** What a pipeline makes of: a function of the attempt, and of the replica that it is to call, where there are any. */
export type PipelineCall<T, R = undefined> = (attempt: Attempt, replica: R) => T | PromiseLike<T>

export interface Runner<F, A, R> {
  run<T>(call: PipelineCall<T, R>, options?: RunOptions): Answer<T, F, A>
  /** The function with the pipeline around it: same parameters, same `this`, a promise of the same result. */
  wrap<This, Parameters extends readonly unknown[], T>(
    call: (this: This, ...parameters: Parameters) => T | PromiseLike<T>,
  ): (this: This, ...parameters: Parameters) => Answer<Awaited<T>, F, A>
}

export class Pipeline<F = never, A = never, R = undefined> implements Runner<F, A, R> {
  readonly #keys: Keys<Parts<F, A, R>>
  readonly #cache: Cache | undefined
  #definition: PipelineDefinition<F, A, R>
  #shared: Shared<F, A, R>

  constructor(definition: PipelineDefinition<F, A, R>) {
    const checked = checkDefinition(definition)
    const { cache, refresh, ports, replicas: listed } = checked.code
    const clock = ports?.clock ?? systemClock
    this.#definition = definition
    this.#shared = {
      definition: checked,
      refresher: refresh && new Refresher(refresh, clock, checked.policy.retry.attemptTimeoutMs),
      replicas: listed instanceof Replicas || listed === undefined ? listed : replicas(listed, { ports: ports ?? {} }),
    }
    this.#cache = cache && new Cache(cache, clock)
    this.#keys = new Keys(key => new Parts(key, this.#shared), clock, checked.maxKeys)
  }

  get name(): string {
    return this.policy.name
  }

  /** The document, with all defaults. */
  get policy(): PipelinePolicy {
    return this.#checked.policy
  }

  get #checked(): CheckedDefinition<F, A, R> {
    return this.#shared.definition
  }

  run<T>(call: PipelineCall<T, R>, options?: RunOptions): Answer<T, F, A> {
    return this.runFor('', call, options)
  }

  wrap<This, Parameters extends readonly unknown[], T>(
    call: (this: This, ...parameters: Parameters) => T | PromiseLike<T>,
  ): (this: This, ...parameters: Parameters) => Answer<Awaited<T>, F, A> {
    return this.for('').wrap(call)
  }

  /** The same pipeline with the state of one key: a host, a tenant, a shard. */
  for(key: string): Runner<F, A, R> & { readonly parts: Parts<F, A, R> } {
    if (typeof key !== 'string') throw new TypeError(`a key is a text, and not ${String(key)}`)
    return new KeyedPipeline(this, key)
  }

  /** What is known about a key at present: its breaker, its budget and its limits, to be looked at or steered by hand. */
  partsOf(key = ''): Parts<F, A, R> {
    return this.#keys.get(key)
  }

  /** Keys that have a state at present. */
  get keyCount(): number {
    return this.#keys.size
  }

  runFor<T>(key: string, call: PipelineCall<T, R>, options?: RunOptions): Answer<T, F, A> {
    const wrong = wrongRun(call, options, this.#cache !== undefined)
    if (wrong !== undefined) return Promise.reject(new TypeError(wrong))
    const { fallback, idempotent } = this.#checked.code
    const own = idempotent === true && options?.idempotent === undefined ? { ...options, idempotent } : options
    const result =
      this.#cache === undefined || options?.cacheKey === undefined
        ? this.#begin(key, call, own)
        : this.#throughCache(this.#cache, key, call, own!)
    return fallback === undefined ? result : withFallback(result, { key, signal: options?.signal }, fallback)
  }

  #throughCache<T>(cache: Cache, key: string, call: PipelineCall<T, R>, options: RunOptions): Promise<T | A> {
    const { classifyResult } = this.#checked.code
    let own: { readonly value: T } | undefined
    const watched = async (attempt: Attempt, replica: R): Promise<T> => {
      const value = await call(attempt, replica)
      own = { value }
      return value
    }
    return cache.through<T | A>(JSON.stringify([key, options.cacheKey]), {
      run: () => this.#begin(key, watched, options),
      isWorthKeeping: value => own?.value === value && judgeValue(value, classifyResult).kind === 'success',
      signal: options.signal,
    })
  }

  #begin<T>(key: string, call: PipelineCall<T, R>, options: RunOptions | undefined): Promise<T | A> {
    const { replicas: pool } = this.#shared
    const work = pool === undefined ? (call as Work<unknown>) : withReplica(call, pool)
    return begin(work, this.#keys.get(key).setup, options) as Promise<T | A>
  }

  /** What it will do: worst cases, the order of its layers, warnings. */
  explain(): PipelineExplanation {
    return explainPipeline(this.#checked)
  }

  /** What its keys have learned, as JSON: breakers and learned limits. */
  snapshot(): PipelineSnapshot {
    const keys = [...this.#keys].map(([key, { breaker, limiter }]) => ({
      key,
      ...(breaker && { breaker: breaker.snapshot() }),
      ...(limiter && { limit: limiter.limit }),
    }))
    return { name: this.name, keys }
  }

  /** Goes on from a snapshot, of this process or another; parts that it does not have are left out. */
  restore(snapshot: PipelineSnapshot): void {
    refuseProblems(checkPipelineSnapshot(snapshot, this.name))
    for (const { key, breaker, limit } of snapshot.keys) {
      const parts = this.partsOf(key)
      if (breaker !== undefined) parts.breaker?.restore(breaker)
      if (limit !== undefined) parts.limiter?.restore(limit)
    }
  }

  /**
   * Other numbers from now on; a part that is given as `undefined` goes. What was counted stays counted and who is inside
   * stays inside: a limit that is lowered holds at once. Operations under way end by the policy that they began with.
   */
  update(change: PipelineChange): void {
    const others = Object.entries(change).filter(([field]) => isCode(field) || field === 'name')
    refuseProblems(others.map(([at, is]) => ({ at, is, say: 'cannot be changed: only parts of the document can' })))
    const definition = { ...this.#definition, ...change } as PipelineDefinition<F, A, R>
    const checked = checkDefinition(definition)
    this.#definition = definition
    this.#shared = { ...this.#shared, definition: checked }
    this.#keys.replace((parts, key) => new Parts(key, this.#shared, parts))
  }
}

/** A function of its own, so that calls without replicas do not pay for what its closure holds. */
function withReplica<T, R>(call: PipelineCall<T, R>, pool: Replicas<R & AnyReplica>): Work<unknown> {
  return attempt => call(attempt, pool.of(attempt))
}

class KeyedPipeline<F, A, R> implements Runner<F, A, R> {
  readonly #pipeline: Pipeline<F, A, R>
  readonly #key: string

  constructor(whole: Pipeline<F, A, R>, key: string) {
    this.#pipeline = whole
    this.#key = key
  }

  get parts(): Parts<F, A, R> {
    return this.#pipeline.partsOf(this.#key)
  }

  run<T>(call: PipelineCall<T, R>, options?: RunOptions): Answer<T, F, A> {
    return this.#pipeline.runFor(this.#key, call, options)
  }

  wrap<This, Parameters extends readonly unknown[], T>(
    call: (this: This, ...parameters: Parameters) => T | PromiseLike<T>,
  ): (this: This, ...parameters: Parameters) => Answer<Awaited<T>, F, A> {
    if (typeof call !== 'function') throw new TypeError(`wrap takes a function, and was given ${String(call)}`)
    const run: Runner<F, A, R>['run'] = this.run.bind(this)
    return function (this: This, ...parameters) {
      return run(() => call.apply(this, [...parameters] as unknown as Parameters & unknown[])) as Answer<
        Awaited<T>,
        F,
        A
      >
    }
  }
}
