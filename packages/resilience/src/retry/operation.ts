import { failure, SUCCESS, type Failure, type Fault, type Outcome } from '../classify/outcome.ts'
import { AttemptTimeoutError, DeadlineError, RefusedError } from '../errors.ts'
import { NOT_ARMED, type Alarm } from '../ports/clock.ts'
import { newIdempotencyKey } from '../ports/random.ts'
import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'
import { emit, isObserved, type OperationEvent } from '../ports/telemetry.ts'
import { nextTurn } from '../ports/turn.ts'
import { RunningAttempt, type Stop } from './attempt.ts'
import type { CompiledPolicy } from './compile.ts'
import { deadlineOf, decide, firstState, type GiveUpReason } from './decide.ts'
import { rememberHistory } from './history.ts'
import { judge } from './judge.ts'
import { EXHAUSTED_REASONS, type Work } from './options.ts'
import { Rest } from './rest.ts'
import type { Setup } from './setup.ts'
import { asPromise } from './thenable.ts'

let operations = 0

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
  readonly startedAt: number
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
    this.startedAt = setup.clock.monotonic()
    this.#work = work
    this.#compiled = compiled
    this.#setup = setup
    this.#resolve = resolve
    this.#reject = reject
  }

  get idempotencyKey(): string {
    return this.#setup.options.idempotencyKey ?? (this.#needRest().key ??= newIdempotencyKey())
  }

  get lastError(): unknown {
    return this.#rest?.last?.error
  }

  get remainingMs(): number {
    return Math.max(0, Math.round(this.dueAt - this.#setup.clock.monotonic()))
  }

  begin(): void {
    const { isPlain, budget, sharesClock } = this.#setup
    if (!isPlain && !this.#mayBegin()) return
    if (budget !== false && budget.deposit(sharesClock ? this.startedAt : undefined) === false)
      this.#giveUp('budget', new RefusedError('budget', 'the retry budget is empty and denies new calls too'))
    else if (isPlain || !this.#isAborted()) this.#start(this.startedAt)
  }

  /** The alarm: an attempt has had its time, or a wait is over. */
  ring(): void {
    try {
      if (this.#current === undefined) this.#startAgain(this.#setup.clock.monotonic())
      else this.#timeOut(this.#current)
    } catch (error) {
      this.crash(error)
    }
  }

  onAbort(reason: unknown): void {
    if (this.#current !== undefined) this.#stop(this.#current, 'aborted', reason)
    // Neither calling nor waiting: somebody aborts while being told something, and is heard at the next step.
    else if (this.slot !== NOT_ARMED) this.#giveUp('aborted', reason)
  }

  /** Somebody's callback threw: a judgement, a die, a budget. That is the caller's to know, and the end. */
  crash(error: unknown): void {
    this.#reject(error)
    if (this.#current !== undefined) this.#leave('ignored')
    this.#close()
  }

  #mayBegin(): boolean {
    const { signal, deadlineAt } = this.#setup.options
    if (deadlineAt !== undefined) this.deadlineAt = this.startedAt + deadlineAt - this.#setup.clock.now()
    if (signal?.aborted === false) followSignal(signal, this)
    const isLate = !(this.startedAt < deadlineOf(this.#compiled.policy, this))
    if (isLate) this.#giveUp('deadline', new DeadlineError())
    return !isLate && !this.#isAborted() && !this.#isRefused() && !this.#isAborted()
  }

  #startAgain(now: number): void {
    const { budget, sharesClock } = this.#setup
    if (now >= deadlineOf(this.#compiled.policy, this)) return this.#giveUp('deadline')
    if (this.#isRefused() || this.#isAborted()) return
    // Paid for here and not before the wait: whoever is aborted while waiting has taken nothing.
    if (budget !== false && !budget.tryWithdraw(this.#rest!.last!.fault, sharesClock ? now : undefined))
      this.#giveUp('budget')
    else this.#start(now)
  }

  #start(now: number): void {
    const { policy } = this.#compiled
    const attempt = (this.#current = new RunningAttempt(this, ++this.#attempts, now))
    this.dueAt = Math.min(now + policy.attemptTimeoutMs, deadlineOf(policy, this))
    if (this.dueAt !== Infinity) this.#setup.clock.arm(this)
    if (this.#isObserved()) this.#tell({ kind: 'attempt-started' })
    let promise: T | Promise<T>
    try {
      promise = asPromise(this.#work(attempt))
    } catch (error) {
      return this.#settle(attempt, false, error)
    }
    if (!(promise instanceof Promise)) return this.#settle(attempt, true, promise)
    promise.then(
      value => this.#settle(attempt, true, value),
      error => this.#settle(attempt, false, error),
    )
  }

  /** An attempt returned or threw something. */
  #settle(attempt: RunningAttempt, returned: boolean, what: unknown): void {
    try {
      if (attempt !== this.#current) attempt.endLate(this.#setup)
      else if (returned) this.#onReturn(attempt, what as T)
      else this.#onThrow(attempt, what)
    } catch (error) {
      this.crash(error)
    }
  }

  #onReturn(attempt: RunningAttempt, value: T): void {
    const { isPlain, options } = this.#setup
    const outcome = isPlain || options.classifyResult === undefined ? SUCCESS : options.classifyResult(value)
    if (outcome.kind === 'failure')
      return attempt.stopped === undefined ? this.#fail(attempt, outcome, value, true) : this.#onThrow(attempt, value)
    this.#leave(undefined)
    // Nearly every call ends here, plain and unobserved: nothing is to be noted, nothing to be given back.
    if (!isPlain || this.#isObserved()) {
      this.#note(attempt, SUCCESS)
      this.#close()
    }
    this.#resolve(value)
  }

  #onThrow(attempt: RunningAttempt, error: unknown): void {
    const { stopped } = attempt
    if (stopped === undefined) return this.#fail(attempt, judge(error, this.#compiled.policy, this.#setup), error)
    if (stopped.reason === 'attempt-timeout') return this.#fail(attempt, failure('ambiguous'), stopped.error)
    const fault = stopped.reason === 'aborted' ? 'ignored' : 'ambiguous'
    this.#leave(fault)
    this.#note(attempt, failure(fault), stopped.error)
    this.#giveUp(stopped.reason, stopped.error)
  }

  /** An attempt failed: give up, or wait for the next one. */
  #fail(attempt: RunningAttempt, outcome: Failure, error: unknown, returned = false): void {
    this.#leave(outcome.fault)
    const now = this.#note(attempt, outcome, error, returned)
    const { options, clock, random, expectedCallMs, budget, sharesClock } = this.#setup
    const state = this.#rest?.state ?? firstState(this.#compiled.policy, this, options.once)
    const moment = { now, roll: random(), expectedCallMs }
    const decision = decide(this.#compiled.policy, state, outcome, moment, options.curve)
    if (decision.kind !== 'retry') return this.#giveUp(decision.kind === 'give-up' ? decision.reason : 'permanent')
    if (budget !== false && budget.covers?.(outcome.fault, sharesClock ? now : undefined) === false)
      return this.#giveUp('budget')
    this.#needRest().state = decision.state
    if (returned) options.discard?.(error as T)
    if (this.#isObserved()) this.#tell({ kind: 'retry-scheduled', delayMs: Math.round(decision.at - now), outcome })
    if (this.#isAborted()) return
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

  /** For whoever keeps a record of attempts: the breaker, observers, the history of a failure. Returns the instant. */
  #note(attempt: RunningAttempt, outcome: Outcome, error?: unknown, returned = false): number {
    const { options, clock } = this.#setup
    const rest = this.#needRest()
    const now = clock.monotonic()
    const durationMs = now - attempt.startedAt
    if (rest.permit !== undefined) rest.permit = options.breaker?.attemptEnded(rest.permit, outcome, durationMs)
    if (this.#isObserved())
      this.#tell({ kind: 'attempt-ended', outcome, durationMs, elapsedMs: now - this.startedAt, error })
    if (outcome.kind === 'failure') {
      const { fault, retryAfterMs, unknown = false } = outcome
      rest.remember({ attempt: attempt.attempt, durationMs, fault, error, returned, retryAfterMs, unknown })
    }
    return now
  }

  /** The end without success: what the last attempt threw is thrown, what it returned is returned. */
  #giveUp(reason: GiveUpReason, error: unknown = this.lastError): void {
    this.#close()
    const { options, clock } = this.#setup
    const { failures = [], last } = this.#needRest()
    const elapsedMs = clock.monotonic() - this.startedAt
    const history = { reason, attempts: this.#attempts, elapsedMs, failures }
    rememberHistory(error, history)
    if (this.#isObserved()) this.#tell({ kind: 'gave-up', reason, elapsedMs, error })
    const returned = last?.returned === true && last.error === error
    const settle = (): void => (returned ? this.#resolve(error as T) : this.#reject(error))
    const { onExhausted } = options
    if (onExhausted === undefined || !EXHAUSTED_REASONS.includes(reason)) return settle()
    const exhausted = { reason, error, history, policy: this.#compiled.document, idempotencyKey: this.idempotencyKey }
    new Promise<A>(resolve => resolve(onExhausted(exhausted))).then(this.#resolve, (hookError: unknown) => {
      this.#tell({ kind: 'exhausted-hook-failed', error: hookError })
      settle()
    })
  }

  /** Nothing is left behind: no alarm, no follower, no permit. */
  #close(): void {
    const { options, clock } = this.#setup
    clock.disarm(this)
    if (options.signal !== undefined) unfollowSignal(options.signal, this)
    if (this.#rest?.permit !== undefined) options.breaker?.operationEnded(this.#rest.permit)
  }

  #timeOut(attempt: RunningAttempt): void {
    this.#rest?.abandoned?.warnIfDeaf(this.#setup)
    if (this.dueAt < deadlineOf(this.#compiled.policy, this))
      this.#stop(attempt, 'attempt-timeout', new AttemptTimeoutError(attempt.attempt, this.dueAt - attempt.startedAt))
    else
      this.#stop(attempt, 'deadline', new DeadlineError(attempt.attempt, this.dueAt - this.startedAt, this.lastError))
  }

  #stop(attempt: RunningAttempt, reason: Stop['reason'], error: unknown): void {
    const { clock } = this.#setup
    const isTold = attempt.stopped !== undefined
    clock.disarm(this)
    attempt.stop({ reason, error, at: clock.monotonic() })
    if (isTold) return
    nextTurn(() => {
      if (attempt !== this.#current) return
      this.#needRest().abandoned = attempt
      this.#settle(attempt, false, error)
    })
  }

  #isAborted(): boolean {
    const { aborted = false, reason } = this.#setup.options.signal ?? {}
    if (aborted) this.#giveUp('aborted', reason)
    return aborted
  }

  #isRefused(): boolean {
    const { breaker } = this.#setup.options
    if (breaker === undefined) return false
    const rest = this.#needRest()
    const answer = breaker.ask(rest.permit)
    if (!(answer instanceof Error)) rest.permit = answer
    else this.#giveUp('breaker-open', rest.last === undefined ? answer : rest.last.error)
    return answer instanceof Error
  }

  #needRest(): Rest {
    return (this.#rest ??= new Rest())
  }

  #isObserved(): boolean {
    return isObserved() || this.#setup.options.telemetry !== undefined
  }

  #tell(event: OperationEvent): void {
    const { name = 'retry', telemetry } = this.#setup.options
    const operationId = (this.#needRest().id ||= ++operations)
    emit({ ...event, name, operationId, attempt: this.#attempts }, telemetry)
  }
}
