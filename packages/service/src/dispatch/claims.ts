/**
 * Claims: one at a time per partition, over all of its lanes that were given slots, each with a token of its own.
 *
 *  1. A claim asks only for tasks that can start now. They are admitted when they come, and sent in the next few turns.
 *  2. An answer sets a queue's next due instant, but never above a hint that came since the claim was sent.
 *  3. Without an answer it is not known whether leases were made. The partition is left, so that its token changes and a
 *     late call is refused; then the leases with the claim's token, which were never used, are put back.
 */
import assert from 'node:assert/strict'
import { nextTurn } from '@secondwind/resilience'
import { lane as lanes, shares } from '@secondwind/resilience/rules'
import { laneKey } from '../task/lane.ts'
import type { ClaimedTask, Queue } from '../task/task.ts'
import type { Answer, Ask, ClaimAnswer } from '../stores/store.ts'
import { Attempt } from './attempt.ts'
import type { AttemptSetting } from './attempt-setting.ts'
import type { ServedLane, ServedQueue } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { portionsOf, type Portion } from './share.ts'
import type { Mark } from './store-calls.ts'

/**
 * Between portions the event loop hears who has answered meanwhile. Sent in one go, all that was claimed would be answered
 * in one go, and stand still together while the store works on the next claim.
 */
export const SENT_IN_ONE_TURN = 16

interface ClaimsOptions {
  readonly setting: AttemptSetting
  readonly shares: shares.Shares<ServedLane>
  /** The lane's part of a claim is answered; `isFull` when the store gave less than was due. */
  readonly onAnswer: (lane: ServedLane, isFull: boolean) => void
  readonly onDoubt: (partition: ServedPartition, claimToken: string) => void
  readonly onLost: (partition: ServedPartition) => void
  /** The claim is answered, and its tasks are about to be sent. */
  readonly onEnd: () => void
}

/** What one lane asks for in a claim. */
interface LanePart {
  readonly lane: ServedLane
  readonly limit: number
  readonly portions: readonly AskedPortion[]
}

interface AskedPortion extends Portion<ServedQueue> {
  /** How many came of it. */
  claimed: number
}

export class Claims {
  /** Over all partitions. */
  underWay = 0
  readonly #options: ClaimsOptions

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Asks for what the lanes have slots for. */
  send(partition: ServedPartition, asking: readonly ServedLane[]): void {
    partition.claim = this.#claim(
      partition,
      asking.map(lane => this.#partOf(lane)),
    )
  }

  #partOf(lane: ServedLane): LanePart {
    const { time } = this.#options.setting.ports
    const now = time.now()
    const openings = lane.openingsAt(now, lane.leases - lane.asked)
    const portions = portionsOf(lane.queues.values(), openings, lane.asked, time.storeNow())
    for (const { of } of portions) of.hintedAt = Infinity
    const asked = portions.map(portion => ({ ...portion, claimed: 0 }))
    return { lane, limit: lanes.limitAt(lane.policy, lane.state, now), portions: asked }
  }

  async #claim(partition: ServedPartition, parts: readonly LanePart[]): Promise<void> {
    const { calls, store, time, newToken } = this.#options.setting.ports
    const token = newToken()
    const mark = time.mark()
    const claim = { partition: partition.number, steward: partition.token, token, asks: parts.flatMap(asksOf) }
    this.underWay++
    const answer = await calls.ask(async () => theOnly(await store.claim([claim])))
    this.underWay--
    partition.claim = undefined
    const attempts = answer?.kind === 'claimed' ? this.#admit(partition, parts, answer, mark) : []
    partition.cancelled.clear()
    for (const { lane } of parts) this.#giveBack(lane)
    if (answer === undefined) this.#options.onDoubt(partition, token)
    else if (answer.kind === 'refused') this.#options.onLost(partition)
    else this.#tell(partition, parts, answer)
    this.#options.onEnd()
    await sendAll(attempts)
  }

  /** Those that may start, in the order in which they were due. */
  #admit({ cancelled }: ServedPartition, parts: readonly LanePart[], { tasks }: Claimed, claimedAt: Mark): Attempt[] {
    const partOf = partFinder(parts)
    return tasks
      .map(task => {
        const { lane, limit, portions } = partOf(task)
        lane.asked--
        lane.countStarting(task.queue, 1)
        lane.count(task.queue, 1)
        portions.find(({ of }) => isSameQueue(of.queue, task.queue))!.claimed++
        const isCancelled = cancelled.has(task.taskId)
        return new Attempt(this.#options.setting, { task, lane, limit, claimedAt, isCancelled })
      })
      .filter(attempt => attempt.admit())
  }

  /** Slots that nothing was found for. */
  #giveBack(lane: ServedLane): void {
    for (; lane.asked > 0; lane.asked--) shares.giveSlotBack(this.#options.shares, lane.share)
  }

  #tell(partition: ServedPartition, parts: readonly LanePart[], answer: Claimed & { readonly now: number }): void {
    const heads = new Map(answer.heads.map(({ lane, queue, dueAt }) => [`${lane} ${queue}`, dueAt]))
    for (const { lane, portions } of parts) {
      let isFull = false
      for (const { of: queue, count, claimed } of portions) {
        const dueAt = heads.get(`${lane.key} ${queue.key}`) ?? null
        const isFilled = claimed >= count
        if (!isFilled && dueAt !== null && dueAt <= answer.now) isFull = true
        lane.answered(queue, dueAt, isFilled)
      }
      this.#options.onAnswer(lane, isFull)
    }
    for (const lane of partition.parked) this.#options.onAnswer(lane, false)
    partition.parked.clear()
  }
}

/** A call makes one claim. */
function theOnly({ now, answers }: Answer & { readonly answers: readonly ClaimAnswer[] }): Answer & ClaimAnswer {
  const [answer] = answers
  assert(answer !== undefined, 'every claim is answered')
  return { now, ...answer }
}

async function sendAll(attempts: readonly Attempt[]): Promise<void> {
  for (let sent = 0; sent < attempts.length; sent += SENT_IN_ONE_TURN) {
    if (sent > 0) await new Promise<void>(nextTurn)
    for (const attempt of attempts.slice(sent, sent + SENT_IN_ONE_TURN)) attempt.send()
  }
}

type Claimed = Extract<ClaimAnswer, { kind: 'claimed' }>

/** Tasks of a lane come one after the other: the part of the last one is mostly that of the next. */
function partFinder(parts: readonly LanePart[]): (task: ClaimedTask) => LanePart {
  const byLane = new Map(parts.map(part => [part.lane.key, part]))
  let last: { readonly of: ClaimedTask; readonly part: LanePart } | undefined
  return task => {
    const isLast = last?.of.destination === task.destination && last.of.tenant === task.tenant
    if (last === undefined || !isLast) last = { of: task, part: byLane.get(laneKey(task))! }
    return last.part
  }
}

function isSameQueue(one: Queue, other: Queue): boolean {
  return one.kind === other.kind && one.rank === other.rank && one.policyId === other.policyId
}

function asksOf({ lane, limit, portions }: LanePart): Ask[] {
  return portions.map(({ of, count, end }) => ({ lane: lane.key, queue: of.key, count, limit, ...(end && { end }) }))
}

/**
 * The attempts whose requests are under way, or wait for their bodies, each at its place in a list.
 *
 * Not in a map by task: a map that takes in and lets go all the time is packed anew every few hundred times, V8 leaves the
 * old table pointing at the new one, and so each old table keeps all that came after it until the whole heap is cleaned.
 * It made every attempt, with its request and its answer, outlive the collection of short-lived objects.
 */
export class UnderWay {
  readonly #attempts: Attempt[] = []

  get size(): number {
    return this.#attempts.length
  }

  add(attempt: Attempt): void {
    attempt.place = this.#attempts.push(attempt) - 1
  }

  remove({ place }: Attempt): void {
    const last = this.#attempts.pop()!
    if (last.place === place) return
    this.#attempts[place] = last
    last.place = place
  }

  /** Whoever cancels a task can wait for a look at each of them: there are no more than slots. */
  of(taskId: string): Attempt | undefined {
    return this.#attempts.find(attempt => attempt.taskId === taskId)
  }

  /** As of now: those that end meanwhile are still among them. */
  all(): readonly Attempt[] {
    return [...this.#attempts]
  }

  /** A machine that slept hears its alarms too late; the store's clock went on. */
  ringOverdue(storeNow: number): void {
    for (const attempt of this.all()) if (attempt.isOverdue(storeNow)) attempt.ring()
  }
}
