import type { Permit } from '../breaker/decide.ts'
import type { Breaker } from '../breaker/run.ts'
import { classifyError } from '../classify/classify-error.ts'
import { failure, SUCCESS, type Failure, type Fault, type Outcome } from '../classify/outcome.ts'
import { AttemptTimeoutError, DeadlineError, RefusedError } from '../errors.ts'
import { NOT_ARMED, type Alarm } from '../ports/clock.ts'
import { newIdempotencyKey } from '../ports/random.ts'
import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'
import { emit, isObserved, warnOnce, type OperationEvent } from '../ports/telemetry.ts'
import { nextTurn } from '../ports/turn.ts'
import { RunningAttempt, type Stop } from './attempt.ts'
import type { CompiledPolicy } from './compile.ts'
import { deadlineOf, decide, type GiveUpReason, type RetryState } from './decide.ts'
import { KEPT_FAILURES, rememberHistory, type FailedAttempt } from './history.ts'
import { EXHAUSTED_REASONS, type Setup, type Work } from './options.ts'

/** An attempt that goes on for so long after it was told to stop has not heard it. */
const DEAF_AFTER_MS = 1_000

let operations = 0

/** What most operations never need: made when something fails, or when somebody looks. */
interface Rest {
  state?: RetryState
  readonly failures: FailedAttempt[]
  last?: FailedAttempt
  /** An attempt that was told to stop and did not. */
  abandoned?: RunningAttempt | undefined
  permit?: Permit | undefined
  key?: string
  id?: number
}

/**
 * One operation, as a state machine without a frame of its own: while it waits, it is an entry in the clock's heap
 * and nothing else.
 *
 *   begin ──► running ──► ended
 *              ▲   │ failed, and the policy allows another
 *         ring │   ▼
 *             waiting ──► ended: aborted, or refused by a gate
 *
 *  1. `#current` is the attempt whose result counts; that of any other comes too late.
 *  2. The alarm is the attempt's time-out while running, and the end of the wait while waiting.
 *  3. An attempt that is told to stop has until the next turn of the event loop to bring a success home.
 */
export class Operation<T, A> implements Alarm, SignalFollower {
  dueAt = 0
  slot: number = NOT_ARMED
  startedAt = 0
  deadlineAt: number | undefined = undefined
  readonly #work: Work<T>
  readonly #compiled: CompiledPolicy
  readonly #setup: Setup<T, A>
  readonly #resolve: (value: T | A) => void
  readonly #reject: (error: unknown) => void
  #attempts = 0
  #current: RunningAttempt | undefined = undefined
  #rest: Rest | undefined = undefined

  constructor(
    work: Work<T>,
    compiled: CompiledPolicy,
    setup: Setup<T, A>,
    resolve: (value: T | A) => void,
    reject: (error: unknown) => void,
  ) {
    this.#work = work
    this.#compiled = compiled
    this.#setup = setup
    this.#resolve = resolve
    this.#reject = reject
  }

  get idempotencyKey(): string {
    return this.#setup.idempotencyKey ?? (this.#needRest().key ??= newIdempotencyKey())
  }

  get lastError(): unknown {
    return this.#rest?.last?.error
  }

  get remainingMs(): number {
    return Math.max(0, this.dueAt - this.#setup.clock.monotonic())
  }

  begin(): void {
    const { clock, budget, sharesClock, breaker, signal, deadlineAt } = this.#setup
    const now = (this.startedAt = clock.monotonic())
    if (deadlineAt !== undefined) this.deadlineAt = now + deadlineAt - clock.now()
    if (signal !== undefined) {
      if (signal.aborted) return this.#giveUp('aborted', signal.reason)
      followSignal(signal, this)
    }
    if (breaker !== undefined && this.#isRefused(breaker)) return
    if (budget !== false && budget.deposit(sharesClock ? now : undefined) === false)
      return this.#giveUp('budget', new RefusedError('budget', 'the retry budget is empty and denies new calls too'))
    this.#start(now)
  }

  /** The alarm: an attempt has had its time, or a wait is over. */
  ring(): void {
    const { clock, budget, breaker } = this.#setup
    const now = clock.monotonic()
    if (this.#current !== undefined) return this.#timeOut(this.#current, now)
    if (breaker !== undefined && this.#isRefused(breaker)) return
    // Paid for here and not before the wait: whoever is aborted while waiting has taken nothing.
    if (budget !== false && !budget.tryWithdraw(this.#rest!.last!.fault)) return this.#giveUp('budget')
    this.#start(now)
  }

  onAbort(reason: unknown): void {
    if (this.#current === undefined) this.#giveUp('aborted', reason)
    else this.#stop(this.#current, 'aborted', reason)
  }

  #start(now: number): void {
    const { policy } = this.#compiled
    const deadline = deadlineOf(policy, this)
    if (now >= deadline && this.#attempts > 0) return this.#giveUp('deadline')
    const attempt = (this.#current = new RunningAttempt(this, ++this.#attempts, now))
    this.dueAt = Math.min(now + policy.attemptTimeoutMs, deadline)
    if (this.dueAt !== Infinity) this.#setup.clock.arm(this)
    if (this.#isObserved()) this.#tell({ kind: 'attempt-started' })
    let result: T | PromiseLike<T>
    try {
      result = this.#work(attempt)
    } catch (error) {
      return this.#onThrow(attempt, error)
    }
    if (!isThenable(result)) return this.#onReturn(attempt, result)
    const promise = result instanceof Promise ? result : Promise.resolve(result)
    promise.then(
      value => this.#onReturn(attempt, value),
      error => this.#onThrow(attempt, error),
    )
  }

  #onReturn(attempt: RunningAttempt, value: T): void {
    if (attempt !== this.#current) return this.#tooLate(attempt)
    const { classifyResult } = this.#setup
    const outcome = classifyResult === undefined ? SUCCESS : classifyResult(value)
    if (outcome.kind === 'failure') return this.#fail(attempt, outcome, value, true)
    this.#leave(undefined)
    // The way of nearly every call: nobody watches, nobody waits, nothing is to be given back.
    if (this.#setup.breaker !== undefined || this.#isObserved()) this.#note(attempt, SUCCESS)
    if (this.#setup.signal !== undefined || this.#rest !== undefined) this.#close()
    this.#resolve(value)
  }

  #onThrow(attempt: RunningAttempt, error: unknown): void {
    if (attempt !== this.#current) return this.#tooLate(attempt)
    const { stopped } = attempt
    if (stopped === undefined) return this.#fail(attempt, this.#classify(error), error)
    if (stopped.reason === 'attempt-timeout') return this.#fail(attempt, failure('ambiguous'), stopped.error)
    const fault = stopped.reason === 'aborted' ? 'ignored' : 'ambiguous'
    this.#leave(fault)
    this.#note(attempt, failure(fault), stopped.error)
    this.#giveUp(stopped.reason, stopped.error)
  }

  /** An attempt failed: give up, or wait for the next one. */
  #fail(attempt: RunningAttempt, outcome: Failure, error: unknown, returned = false): void {
    this.#leave(outcome.fault)
    this.#note(attempt, outcome, error, returned)
    const { clock, random, budget, lastAttempt, expectedCallMs = 0, discard } = this.#setup
    const now = clock.monotonic()
    const moment = { now, roll: random(), expectedCallMs: lastAttempt === 'always' ? 0 : expectedCallMs }
    const decision = decide(this.#compiled.policy, this.#stateNow(), outcome, moment)
    if (decision.kind !== 'retry') return this.#giveUp(decision.kind === 'give-up' ? decision.reason : 'permanent')
    if (budget !== false && budget.covers?.(outcome.fault) === false) return this.#giveUp('budget')
    this.#needRest().state = decision.state
    if (returned) discard?.(error as T)
    if (this.#isObserved()) this.#tell({ kind: 'retry-scheduled', delayMs: decision.at - now, outcome })
    this.dueAt = decision.at
    clock.arm(this)
  }

  /** The end of every attempt whose result counts: its time-out and its place in the budget are given back. */
  #leave(fault: Fault | undefined): void {
    const { clock, budget } = this.#setup
    clock.disarm(this)
    this.#current = undefined
    if (budget !== false) budget.settle?.(fault, this.#rest?.last?.fault)
  }

  /** For whoever keeps a record of attempts: the breaker, observers, the history of a failure. */
  #note(attempt: RunningAttempt, outcome: Outcome, error?: unknown, returned = false): void {
    const { clock, breaker } = this.#setup
    const rest = this.#needRest()
    const now = clock.monotonic()
    const durationMs = now - attempt.startedAt
    rest.permit = breaker?.attemptEnded(rest.permit!, outcome, durationMs)
    if (this.#isObserved())
      this.#tell({ kind: 'attempt-ended', outcome, durationMs, elapsedMs: now - this.startedAt, error })
    if (outcome.kind === 'success') return
    const { fault, retryAfterMs } = outcome
    rest.last = { attempt: attempt.attempt, durationMs, fault, error, returned, retryAfterMs }
    if (rest.failures.push(rest.last) > KEPT_FAILURES) rest.failures.shift()
  }

  /** The end without success: what the last attempt threw is thrown, what it returned is returned. */
  #giveUp(reason: GiveUpReason, error: unknown = this.lastError): void {
    this.#close()
    const { clock, onExhausted } = this.#setup
    const attempts = this.#attempts
    const history = {
      reason,
      attempts,
      elapsedMs: clock.monotonic() - this.startedAt,
      failures: this.#needRest().failures,
    }
    rememberHistory(error, history)
    if (this.#isObserved()) this.#tell({ kind: 'gave-up', reason, elapsedMs: history.elapsedMs, error })
    const { last } = this.#needRest()
    const returned = last?.returned === true && last.error === error
    const settle = (): void => (returned ? this.#resolve(error as T) : this.#reject(error))
    if (onExhausted === undefined || !EXHAUSTED_REASONS.includes(reason)) return settle()
    const { idempotencyKey } = this
    const exhausted = { reason, error, history, policy: this.#compiled.document, idempotencyKey }
    new Promise<A>(resolve => resolve(onExhausted(exhausted))).then(this.#resolve, (hookError: unknown) => {
      this.#tell({ kind: 'exhausted-hook-failed', error: hookError })
      settle()
    })
  }

  /** Nothing is left behind: no alarm, no follower, no permit. */
  #close(): void {
    const { clock, signal, breaker } = this.#setup
    clock.disarm(this)
    if (signal !== undefined) unfollowSignal(signal, this)
    if (this.#rest?.permit !== undefined) breaker?.operationEnded(this.#rest.permit)
  }

  #timeOut(attempt: RunningAttempt, now: number): void {
    const abandoned = this.#rest?.abandoned
    if (abandoned !== undefined) this.#warnIfDeaf(abandoned)
    if (this.dueAt < deadlineOf(this.#compiled.policy, this))
      this.#stop(attempt, 'attempt-timeout', new AttemptTimeoutError(attempt.attempt, now - attempt.startedAt))
    else this.#stop(attempt, 'deadline', new DeadlineError(attempt.attempt, now - this.startedAt, this.lastError))
  }

  #stop(attempt: RunningAttempt, reason: Stop['reason'], error: unknown): void {
    const { clock } = this.#setup
    clock.disarm(this)
    const isTold = attempt.stopped !== undefined
    attempt.stop({ reason, error, at: clock.monotonic() })
    if (isTold) return
    nextTurn(() => {
      if (attempt !== this.#current) return
      this.#needRest().abandoned = attempt
      this.#onThrow(attempt, error)
    })
  }

  #tooLate(attempt: RunningAttempt): void {
    this.#warnIfDeaf(attempt)
    if (attempt === this.#rest?.abandoned) this.#rest.abandoned = undefined
  }

  #warnIfDeaf({ attempt, stopped }: RunningAttempt): void {
    const { clock, telemetry, name = 'retry' } = this.#setup
    if (stopped === undefined || clock.monotonic() - stopped.at < DEAF_AFTER_MS) return
    const say = `attempt ${attempt} of ${name} goes on though its signal was aborted: hand attempt.signal to what it calls`
    warnOnce('signal-ignored', name, say, telemetry)
  }

  #isRefused(breaker: Breaker): boolean {
    const rest = this.#needRest()
    const answer = breaker.ask(rest.permit)
    const isRefused = answer instanceof Error
    if (isRefused) this.#giveUp('breaker-open', rest.last === undefined ? answer : rest.last.error)
    else rest.permit = answer
    return isRefused
  }

  #classify(error: unknown): Failure {
    const own = this.#setup.classify?.(error)
    if (typeof own === 'object') return own
    if (own !== undefined) return failure(own)
    return classifyError(error, this.#compiled.policy.retryableStatusCodes, this.#setup.clock.now())
  }

  #stateNow(): RetryState {
    const { startedAt, deadlineAt } = this
    const { initialDelayMs: previousDelayMs } = this.#compiled.policy
    return this.#rest?.state ?? { attempt: 1, startedAt, deadlineAt, previousDelayMs, once: this.#setup.once }
  }

  #needRest(): Rest {
    return (this.#rest ??= { failures: [] })
  }

  #isObserved(): boolean {
    return this.#setup.telemetry !== undefined || isObserved()
  }

  #tell(event: OperationEvent): void {
    const { name = 'retry', telemetry } = this.#setup
    emit({ ...event, name, operationId: (this.#needRest().id ??= ++operations), attempt: this.#attempts }, telemetry)
  }
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return value instanceof Promise || typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
