import { failure, SUCCESS, type Failure, type Fault, type Outcome } from '../classify/outcome.ts'
import { AttemptTimeoutError, DeadlineError, RefusedError } from '../errors.ts'
import { NOT_ARMED, type Alarm } from '../ports/clock.ts'
import { presentContext, runIn } from '../ports/context.ts'
import { newIdempotencyKey } from '../ports/random.ts'
import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'
import { RunningAttempt, type Stop } from './attempt.ts'
import { companionsOf, safely, type Accompanied, type Companion, type End } from './companion.ts'
import { firstState, type GiveUpReason } from './decide.ts'
import { rememberHistory } from './history.ts'
import { judge, judgeValue } from './judge.ts'
import { settleFailed } from './exhausted.ts'
import { NO_OPTIONS, type CallOptions, type Work } from './options.ts'
import { Rest } from './rest.ts'
import type { Setup } from './setup.ts'
import { isThenable } from './thenable.ts'

/**
 * One operation, as a state machine without a frame of its own: what waits is an entry in the clock's heap.
 *
 *                  gates say yes
 *   begin ──► ask ──────────────► calling ──► ended: well, or given up
 *             ▲ │ not yet            │ failed, and the policy allows another
 *        ring │ ▼                    │
 *             waiting ◄──────────────┘
 *               └──► ended: aborted, refused, or too late
 *
 *  1. `#current` is the attempt whose result counts; that of any other comes too late.
 *  2. The alarm is the attempt's time-out while calling, and the end of the wait while waiting.
 *  3. An attempt that is told to stop has until the next turn of the event loop to bring a success home.
 */
export class Operation<T, A> implements Alarm, SignalFollower, Accompanied {
  dueAt = 0
  slot: number = NOT_ARMED
  behind: Alarm | undefined
  /** How its promise is settled; given as that is made. */
  resolve!: (value: T | A) => void
  reject!: (error: unknown) => void
  readonly startedAt: number
  deadlineAt: number
  attempts = 0
  id = 0
  readonly call: CallOptions
  companion: Companion | undefined
  readonly #work: Work<T>
  readonly setup: Setup<T, A>
  #current: RunningAttempt | undefined
  #isWaiting = false
  #rest: Rest | undefined

  constructor(work: Work<T>, setup: Setup<T, A>, call: CallOptions = NO_OPTIONS) {
    this.startedAt = setup.clock.monotonic()
    this.deadlineAt = this.startedAt + setup.policy.totalBudgetMs
    this.#work = work
    this.setup = setup
    this.call = call
  }

  get name(): string {
    return this.call.name ?? this.setup.options.client ?? 'retry'
  }

  get idempotencyKey(): string {
    return this.call.idempotencyKey ?? (this.#needRest().key ??= newIdempotencyKey())
  }

  get lastError(): unknown {
    return this.#rest?.last?.error
  }

  begin(): void {
    const { signal, deadlineAt } = this.call
    if (deadlineAt !== undefined)
      this.deadlineAt = Math.min(this.deadlineAt, this.startedAt + deadlineAt - this.setup.clock.now())
    this.companion = companionsOf(this, this.setup.gates)
    this.#ask(this.startedAt)
    if (signal) void Promise.resolve(this).then(operation => operation.follow())
  }

  /** Hears the caller's signal, which a call that is answered at once need not: a listener costs as much as all the rest. */
  follow(): void {
    const { signal } = this.call
    if (signal?.aborted) this.onAbort(signal.reason)
    else if (signal && (this.#current || this.#isWaiting)) followSignal(signal, this)
  }

  ring(now: number = this.setup.clock.monotonic()): void {
    runIn(this.#rest?.context, () => this.#wake(now))
  }

  onAbort(reason: unknown): void {
    if (this.#current !== undefined) this.#stop(this.#current, 'aborted', reason)
    // Neither calling nor waiting: somebody aborts while being told something, and is heard at the next step.
    else if (this.#isWaiting) runIn(this.#rest?.context, () => this.#giveUp('aborted', reason))
  }

  askAgain(): void {
    if (!this.#isWaiting) return
    this.setup.clock.disarm(this)
    this.ring()
  }

  refuse(refusal: RefusedError): void {
    if (this.#isWaiting) runIn(this.#rest?.context, () => this.#refuse(refusal))
  }

  /** Somebody's callback threw: a judgement, a die, a budget. That is the caller's to know, and the end. */
  crash(error: unknown): void {
    this.reject(error)
    if (this.#current !== undefined) this.#leave('ignored')
    this.#close({ reason: 'permanent', elapsedMs: this.setup.clock.monotonic() - this.startedAt, error })
  }

  #wake(now: number): void {
    this.#isWaiting = false
    try {
      if (this.#current === undefined) this.#ask(now)
      else this.#timeOut(this.#current)
    } catch (error) {
      this.crash(error)
    }
  }

  /** Before every attempt: may it begin? The budget comes last, so that nobody pays for what is refused. */
  #ask(now: number): void {
    if (!(now < this.deadlineAt))
      return this.#giveUp('deadline', this.attempts === 0 ? new DeadlineError() : this.lastError)
    if (this.#isAborted()) return
    if (this.companion !== undefined && !this.#mayEnter(this.companion, now)) return
    // Paid for here and not before a wait: whoever is aborted while waiting has taken nothing.
    if (this.setup.pay(this.#rest?.last?.fault, now)) this.#start(now)
    else this.#refuse(new RefusedError('budget', 'the retry budget is empty and denies new calls too'))
  }

  #mayEnter(companion: Companion, now: number): boolean {
    const answer = companion.enter?.(now)
    if (typeof answer === 'number') this.#waitUntil(Math.min(answer, this.deadlineAt))
    else if (answer !== undefined) this.#refuse(answer)
    return answer === undefined && !this.#isAborted()
  }

  /** What an attempt threw says more than the gate that kept the next one back. */
  #refuse(refusal: RefusedError): void {
    this.#giveUp(refusal.code, this.attempts === 0 ? refusal : this.lastError)
  }

  #start(now: number): void {
    const { clock, policy, options } = this.setup
    const attempt = (this.#current = new RunningAttempt(this, ++this.attempts, now))
    this.dueAt = Math.min(now + (options.attemptTimeoutMs?.() ?? policy.attemptTimeoutMs), this.deadlineAt)
    if (this.dueAt !== Infinity) clock.arm(this)
    const { companion } = this
    const work = this.#work
    companion?.started?.()
    let result: T | PromiseLike<T>
    try {
      result = companion?.around === undefined ? work(attempt) : companion.around(work, attempt)
      // A promise of another realm, or no promise at all but something like one.
      if (!(result instanceof Promise) && isThenable(result)) result = Promise.resolve(result)
    } catch (error) {
      return this.#settle(attempt, false, error)
    }
    if (!(result instanceof Promise)) return this.#settle(attempt, true, result)
    result.then(
      value => this.#settle(attempt, true, value),
      error => this.#settle(attempt, false, error),
    )
  }

  /** The work of an attempt has ended, in time or not. */
  #settle(attempt: RunningAttempt, returned: boolean, what: unknown): void {
    // A promise that settles twice is none: what it says the second time would give back what somebody else holds.
    if (attempt.hasEnded) return
    attempt.hasEnded = true
    if (attempt === this.#current) this.#take(attempt, returned, what)
    else attempt.endLate(this.setup, this.name)
    if (this.companion !== undefined) safely.workEnded(this.companion)
  }

  #take(attempt: RunningAttempt, returned: boolean, what: unknown): void {
    try {
      if (attempt.stopped === undefined && this.call.signal?.aborted) this.follow()
      if (returned) this.#onReturn(attempt, what as T)
      else this.#onThrow(attempt, what)
    } catch (error) {
      this.crash(error)
    }
  }

  #onReturn(attempt: RunningAttempt, value: T): void {
    const outcome = judgeValue(value, this.setup.options.classifyResult)
    if (outcome.kind === 'failure')
      return attempt.stopped === undefined ? this.#fail(attempt, outcome, value, true) : this.#onThrow(attempt, value)
    this.#leave(undefined)
    if (this.companion !== undefined) this.#note(attempt, SUCCESS, undefined)
    if (this.companion !== undefined || this.call !== NO_OPTIONS) this.#close()
    this.resolve(value)
  }

  #onThrow(attempt: RunningAttempt, error: unknown): void {
    const { stopped } = attempt
    if (stopped === undefined) return this.#fail(attempt, judge(error, this.setup), error)
    if (stopped.reason === 'attempt-timeout') return this.#fail(attempt, failure('ambiguous'), stopped.error)
    const outcome = failure(stopped.reason === 'aborted' ? 'ignored' : 'ambiguous')
    this.#leave(outcome.fault)
    this.#note(attempt, outcome, stopped.error)
    this.#giveUp(stopped.reason, stopped.error)
  }

  /** An attempt failed: give up, or wait for the next one. */
  #fail(attempt: RunningAttempt, outcome: Failure, error: unknown, returned = false): void {
    this.#leave(outcome.fault)
    const now = this.#note(attempt, outcome, error, returned)
    const setup = this.setup
    const state = this.#rest?.state ?? firstState(setup.policy, this, this.call.once)
    const decision = setup.decide(state, outcome, now, this.call.expectedCallMs)
    if (decision.kind !== 'retry') return this.#giveUp(decision.kind === 'give-up' ? decision.reason : 'permanent')
    if (!setup.couldPay(outcome.fault, now)) return this.#giveUp('budget')
    const refusal = this.companion?.mayRetry?.()
    if (refusal !== undefined) return this.#refuse(refusal)
    this.#needRest().state = decision.state
    if (returned) setup.options.discard?.(error as T)
    this.companion?.waits?.({ delayMs: Math.round(decision.at - now), outcome })
    if (!this.#isAborted()) this.#waitUntil(decision.at)
  }

  #waitUntil(dueAt: number): void {
    this.#needRest().context ??= presentContext()
    this.#isWaiting = true
    this.dueAt = dueAt
    this.setup.clock.arm(this)
    this.companion?.pauses?.()
    this.follow()
  }

  /** The end of every attempt whose result counts: its time-out and its place in the budget are given back. */
  #leave(fault: Fault | undefined): void {
    const { clock, budget } = this.setup
    clock.disarm(this)
    this.#current = undefined
    if (budget !== undefined) budget.settle?.(fault, this.#rest?.last?.fault)
  }

  /** For the history of a failure, and for whoever goes along. Returns the instant. */
  #note(attempt: RunningAttempt, outcome: Outcome, error: unknown, returned = false): number {
    const now = this.setup.clock.monotonic()
    const durationMs = now - attempt.startedAt
    if (this.companion !== undefined)
      safely.ended(this.companion, { outcome, durationMs, elapsedMs: now - this.startedAt, error, returned })
    if (outcome.kind === 'failure') this.#needRest().remember(attempt, outcome, durationMs, error, returned)
    return now
  }

  /** The end without success: what the last attempt threw is thrown, what it returned is returned. */
  #giveUp(reason: GiveUpReason, error: unknown = this.lastError): void {
    const elapsedMs = this.setup.clock.monotonic() - this.startedAt
    const { failures, last } = this.#needRest()
    const history = { reason, attempts: this.attempts, elapsedMs, failures }
    rememberHistory(error, history)
    this.#close({ reason, elapsedMs, error })
    const failed = { error, history, returned: last?.returned === true && last.error === error }
    settleFailed(this, this.setup, failed, hookError => this.companion?.hookFailed?.(hookError))
  }

  /** Nothing is left behind: no alarm, no follower, no place behind a gate. */
  #close(end?: End): void {
    this.#isWaiting = false
    this.setup.clock.disarm(this)
    if (this.call.signal) unfollowSignal(this.call.signal, this)
    if (this.companion !== undefined) safely.over(this.companion, end)
  }

  #timeOut(attempt: RunningAttempt): void {
    this.#rest?.abandoned?.warnIfDeaf(this.setup, this.name)
    if (this.dueAt < this.deadlineAt)
      this.#stop(attempt, 'attempt-timeout', new AttemptTimeoutError(this.attempts, this.dueAt - attempt.startedAt))
    else this.#stop(attempt, 'deadline', new DeadlineError(this.attempts, this.dueAt - this.startedAt, this.lastError))
  }

  #stop(attempt: RunningAttempt, reason: Stop['reason'], error: unknown): void {
    this.setup.clock.disarm(this)
    attempt.stop({ reason, error, at: this.setup.clock.monotonic() }, () => {
      if (attempt !== this.#current) return
      this.#needRest().abandoned = attempt
      this.#take(attempt, false, error)
    })
  }

  #isAborted(): boolean {
    const { signal } = this.call
    if (!signal?.aborted) return false
    this.#giveUp('aborted', signal.reason)
    return true
  }

  #needRest(): Rest {
    return (this.#rest ??= new Rest())
  }
}
