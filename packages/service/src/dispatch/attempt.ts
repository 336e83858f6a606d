/**
 * The story of one attempt, from a lease in hand to its end on the way to the store.
 *
 *  1. A request is sent only while its whole time-out fits into the lease, measured from before the claim was asked.
 *  2. An attempt that was never sent, for a reason of ours, is put back and counts nothing. One that was tried counts.
 *  3. A task that was cancelled before it was sent is not sent.
 *  4. Its end is said once: by the target, by the alarm, or by a cut. A later end is ignored.
 */
import { NOT_ARMED, type Alarm, type Outcome, type RetryPolicy } from '@secondwind/resilience'
import { lane as lanes, laneRecall } from '@secondwind/resilience/rules'
import type { Sending, TargetAnswer } from '../targets/target.ts'
import { controlOn, passesPauses } from '../task/orders.ts'
import {
  abandon,
  cutOff,
  expire,
  putBack,
  readAnswer,
  settle,
  type AttemptResult,
  type Settlement,
} from '../task/settle.ts'
import type { ClaimedTask, TaskRequest } from '../task/task.ts'
import { startOf } from '../task/task-change.ts'
import { signedHeadersOf } from './attempt-headers.ts'
import type { AttemptSetting, Claimed } from './attempt-setting.ts'
import type { FetchedBody } from './bodies.ts'
import { isTooLate, latenessOf, NOT_LATE } from './lateness.ts'
import { learn } from './learning.ts'
import type { ServedLane } from './served-lane.ts'

/** The target's own time-out goes first: it knows how far the request had come. */
const GRACE_MS = 500

/** Of what a lease has beyond the time-out, so much may pass before sending; the rest is for clocks that disagree. */
const SPENDABLE = 2 / 3

type Came = ReturnType<typeof cutOff>
type NotTried = Extract<TargetAnswer, { readonly kind: 'not-tried' }>

const IGNORED: Outcome = { kind: 'failure', fault: 'ignored' }

export class Attempt implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  /** Among those under way. */
  place = 0
  readonly #setting: AttemptSetting
  readonly #claim: Claimed
  readonly #task: ClaimedTask
  readonly #lane: ServedLane
  #policy!: RetryPolicy
  /** What it sends, once it was fetched. */
  #request: TaskRequest
  #body: FetchedBody | undefined = undefined
  /** Once it may be sent. */
  #payment: lanes.Payment | undefined = undefined
  #sending: Sending | undefined = undefined
  #startedAt = 0
  #lateness = NOT_LATE
  #startedElapsed = 0
  #inFlight = 0
  #isOver = false
  #isCancelled: boolean
  /** Ends the wait for its body. */
  #left: AbortController | undefined = undefined

  constructor(setting: AttemptSetting, claim: Claimed) {
    this.#setting = setting
    this.#claim = claim
    this.#task = claim.task
    this.#request = claim.task.request
    this.#lane = claim.lane
    this.#isCancelled = claim.isCancelled
  }

  get taskId(): string {
    return this.#task.taskId
  }

  /** Whether it may be sent now: then it is paid for, and is sent soon. If not, its lease is on its way back already. */
  admit(): boolean {
    const { ports, settling } = this.#setting
    settling.takeInHand(this.#task)
    const policy = ports.policies.atHand(this.#task)
    if (policy !== undefined && this.#task.request.storedBody === undefined) return this.#admit(policy)
    void this.#prepare()
    return false
  }

  /** Once it is admitted, unless it was cut off since, or the process stood still: then lease and orders may have grown old. */
  send(): void {
    if (this.#isOver) return
    const { ports, steering } = this.#setting
    if (!this.#fits(this.#policy) || !steering.isFresh) return this.#putBack()
    const { progress } = this.#task
    const request = this.#request
    const timeoutMs = Math.min(this.#policy.attemptTimeoutMs, progress.expiresAt - this.#startedAt)
    this.#startedElapsed = ports.clock.monotonic()
    this.dueAt = this.#startedElapsed + timeoutMs + GRACE_MS
    ports.clock.arm(this)
    ports.events.taskChanged(this.#task.tenant, () => startOf(this.#task))
    try {
      const headers = signedHeadersOf(this.#task, { body: request.body, timeoutMs }, ports)
      this.#sending = ports.target.send({ request, headers, timeoutMs })
      this.#sending.answer.then(this.#heard, this.#broke)
    } catch (error) {
      this.#broke(error)
    }
  }

  async #prepare(): Promise<void> {
    const { ports, underWay, onPolicyMissing } = this.#setting
    underWay.add(this)
    const policy = (await ports.calls.read(() => ports.policies.find(this.#task)))?.value
    if (policy === 'missing') onPolicyMissing(this.#task, this.#lane)
    const isPolicyKnown = policy !== undefined && policy !== 'missing'
    const isReady = isPolicyKnown ? await this.#fetchBody(policy) : this.#putBackUnsent()
    underWay.remove(this)
    if (!isPolicyKnown || !isReady || !this.#admit(policy)) return
    this.send()
    // It paid only now. So only now does the lane know when its next probe is due.
    this.#lane.ring()
  }

  /** False when there is none to send: then its lease is on its way back already. */
  async #fetchBody(policy: RetryPolicy): Promise<boolean> {
    const { bodies, onLack } = this.#setting
    const { storedBody } = this.#task.request
    if (storedBody === undefined) return true
    this.#left = new AbortController()
    const body = await bodies.fetch(this.#task, storedBody, () => this.#fits(policy), this.#left.signal)
    if (body === 'missing') return this.#settleUnsent(abandon(this.#task, 'body-missing'))
    if (body === 'late') return this.#putBackUnsent()
    if (body === undefined) {
      onLack(this.#task, this.#lane)
      return this.#putBackUnsent()
    }
    this.#body = body
    this.#request = { ...this.#request, body: body.bytes }
    return true
  }

  /** There is room for another's body. */
  #letGoBody(): void {
    this.#request = this.#task.request
    this.#body?.letGo()
    this.#body = undefined
  }

  #admit(policy: RetryPolicy): boolean {
    const now = this.#setting.ports.time.now()
    if (isTooLate(this.#lane, this.#task, now)) return this.#expire()
    const payment = !this.#isCancelled && this.#fits(policy) ? this.#pay(now) : undefined
    if (payment === undefined) return this.#putBackUnsent()
    this.#policy = policy
    this.#payment = payment
    this.#startedAt = now
    this.#lateness = latenessOf(this.#lane, payment, this.#task.dueAt, now)
    this.#lane.countStarting(this.#task.queue, -1)
    this.#inFlight = ++this.#lane.running
    this.#setting.underWay.add(this)
    return true
  }

  #fits({ attemptTimeoutMs }: RetryPolicy): boolean {
    const spareMs = (this.#task.leaseMs - attemptTimeoutMs) * SPENDABLE
    return this.#setting.ports.time.passedSince(this.#claim.claimedAt) <= spareMs
  }

  /** None when the partition is somebody else's, or a gate has shut while the claim was under way. */
  #pay(now: number): lanes.Payment | undefined {
    const { partition, policy, orders, state, running } = this.#lane
    const { queue } = this.#task
    if (partition.phase === 'gone' || !this.#setting.steering.isFresh) return undefined
    if (controlOn(orders, queue, now) !== undefined) return undefined
    const isByHand = passesPauses(orders, queue.rank, now)
    const wish = { kind: queue.kind, isByHand, underWay: running, allowedUnder: this.#claim.limit }
    return lanes.start(policy, state, wish, { now, roll: this.#setting.ports.random() })
  }

  #expire(): false {
    lanes.takeOtherEnd(this.#lane.state, this.#task.queue.kind)
    return this.#settleUnsent(expire(this.#task, this.#lane.heldBack(this.#task)))
  }

  #putBackUnsent(): false {
    return this.#settleUnsent(putBack(this.#task))
  }

  /** Ends its lease, and nothing was sent. */
  #settleUnsent(settlement: Settlement): false {
    this.#setting.settling.settle({ task: this.#task, settlement, lane: this.#lane, lateness: NOT_LATE })
    this.#letGoBody()
    this.#lane.countStarting(this.#task.queue, -1)
    this.#lane.count(this.#task.queue, -1)
    this.#setting.onEnd(this.#lane)
    return false
  }

  readonly #heard = (answer: TargetAnswer): void => {
    if (this.#isOver) return
    if (answer.kind === 'not-tried') this.#putOff(answer)
    else this.#end(readAnswer(answer, this.#policy, this.#setting.ports.time.now()))
  }

  /** The target was never asked, and has shown nothing of itself. */
  #putOff({ errorCode, errorMessage }: NotTried): void {
    const { ports, onLack } = this.#setting
    ports.events.warning(errorCode, errorMessage)
    onLack(this.#task, this.#lane)
    this.#putBack()
  }

  /** It was paid for, and is not sent: it has all of it back. */
  #putBack(): void {
    const { ports, settling } = this.#setting
    const [task, lane] = [this.#task, this.#lane]
    this.#leave()
    lanes.abandon(lane.policy, lane.state, this.#payment!, ports.time.now())
    settling.settle({ task, settlement: putBack(task), lane, lateness: NOT_LATE })
    this.#giveSlotBack()
  }

  /** A target says what went wrong and does not throw it: a mistake of ours, and the task's chance all the same. */
  readonly #broke = (error: unknown): void => {
    this.#setting.ports.events.warning('target-broke', `a target threw: ${String(error).slice(0, 200)}`)
    if (!this.#isOver) this.#end(cutOff('target-broke', 'the target failed in a way that it does not know itself'))
  }

  ring(): void {
    if (this.#sending === undefined) return this.#putBack()
    const message = `no answer within ${this.#policy.attemptTimeoutMs} ms`
    this.#sending.cut(message)
    this.#end(cutOff('attempt-timeout', message))
  }

  /**
   * Ends it now, for a reason of ours: what it had begun may have been carried out, but nothing is learned from it. What it
   * had not begun it leaves.
   */
  cut(errorCode: 'shutdown' | 'cancelled', errorMessage: string): void {
    if (this.#isOver) return
    if (this.#payment === undefined) {
      this.#isCancelled = true
      this.#left?.abort()
      return
    }
    if (this.#sending === undefined) return this.#putBack()
    this.#sending.cut(errorMessage)
    this.#end(cutOff(errorCode, errorMessage), { heard: IGNORED, isCutOff: errorCode === 'shutdown' })
  }

  /** Whether its lease is over, by the store's own clock: after a suspend, alarms come too late. */
  isOverdue(storeNow: number): boolean {
    return this.#payment !== undefined && storeNow >= this.#task.lease.endsAt
  }

  /** `heard` is what the destination has shown of itself: usually the same. */
  #end(came: Came, { heard = came.outcome, isCutOff = false }: { heard?: Outcome; isCutOff?: boolean } = {}): void {
    const { ports, settling } = this.#setting
    const lane = this.#lane
    this.#leave()
    const now = ports.time.now()
    const durationMs = Math.max(0, Math.round(ports.clock.monotonic() - this.#startedElapsed))
    const result: AttemptResult = { ...came, startedAt: this.#startedAt, durationMs }
    const roll = ports.random()
    const call = { outcome: heard, status: came.responseStatus, durationMs, inFlight: this.#inFlight, roll, isCutOff }
    learn(this.#setting, { lane, payment: this.#payment!, call, errorCode: came.errorCode }, now)
    const moment = { now, roll, expectedCallMs: lanes.expectedMs(lane.state) }
    const settlement = settle(this.#task, this.#policy, result, moment)
    lane.remember(settlement, laneRecall.mayBeRecalled(heard))
    settling.settle({ task: this.#task, settlement, lane, lateness: this.#lateness })
    this.#giveSlotBack()
  }

  /** What comes later is not heard. */
  #leave(): void {
    const { ports, underWay } = this.#setting
    this.#isOver = true
    ports.clock.disarm(this)
    underWay.remove(this)
    this.#letGoBody()
  }

  #giveSlotBack(): void {
    this.#lane.running--
    this.#lane.count(this.#task.queue, -1)
    this.#setting.onEnd(this.#lane)
  }
}
