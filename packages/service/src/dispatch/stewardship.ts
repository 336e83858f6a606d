/**
 * Who serves what. Each partition has one steward in the store, known by a random token that changes only by
 * compare-and-set; instances decide for themselves what they want, and a wrong belief costs a move, never a promise.
 *
 *  1. What I want I take if it is free or its steward is dead; what I serve and another wants I give.
 *  2. A record in my name that I do not serve I free or take anew, at every beat: so ends whatever an unanswered call left.
 *  3. An instance that finds its token replaced drops the partition, and finishes the attempts that it has sent.
 */
import { PARTITIONS } from '../task/lane.ts'
import type { ClaimedTask } from '../task/task.ts'
import type { Steward } from '../stores/store.ts'
import { allPages } from './all-pages.ts'
import { BEAT_MS, isDead, isLive, look, stewardFor, type Watch } from './fleet.ts'
import type { DispatchPorts } from './ports.ts'
import { readLeased } from './read-tasks.ts'
import type { ServedLane } from './served-lane.ts'
import { ServedPartition } from './served-partition.ts'
import type { Mark } from './store-calls.ts'

/** Moves go side by side, but a fleet that starts must not storm its store. */
const MOVES_AT_ONCE = 64

/** A beat that came later than that says more about us than about the others. */
const LONGEST_LOOK_MS = 2 * BEAT_MS

/** A claim without an answer, made under a steward's token. */
interface Doubt {
  readonly partition: number
  readonly steward: string
  readonly token: string
}

interface StewardshipOptions {
  readonly ports: DispatchPorts
  /** The store has answered a beat that was asked at this moment. */
  readonly onBeat: (recordsVersion: number, asked: Mark) => void
  /** Reads what a new steward has to know; false when the store gave no answer. */
  readonly onTaken: (partition: ServedPartition) => Promise<boolean>
  /** Writes down what the next one has to know. */
  readonly onGiving: (partition: ServedPartition) => Promise<void>
  readonly onDropped: (partition: ServedPartition) => void
  /** Their leases were never used. */
  readonly onUnused: (tasks: readonly ClaimedTask[]) => void
}

export class Stewardship {
  readonly partitions: Map<number, ServedPartition> = new Map()
  /** Those that were left because the store gave no answer, as they were then, until they are served again. */
  readonly left: Map<number, ServedPartition> = new Map()
  isStopping = false
  readonly #options: StewardshipOptions
  readonly #watch: Watch = new Map()
  #heardAt: number | undefined
  #isBeating = false
  /** Partitions that are being moved, and those that were since the beat was asked: its answer may not know. */
  readonly #moving = new Set<number>()
  readonly #moved = new Set<number>()
  readonly #moves: (() => Promise<void>)[] = []
  #movesUnderWay = 0
  #doubts: Doubt[] = []
  #chosenAmong = ''
  #wanted: readonly boolean[] = []

  constructor(options: StewardshipOptions) {
    this.#options = options
  }

  /** Whether nothing is being moved. */
  get isSettled(): boolean {
    return this.#movesUnderWay === 0 && this.#moves.length === 0
  }

  async beat(): Promise<void> {
    if (this.#isBeating) return
    this.#isBeating = true
    this.#moved.clear()
    const { calls, clock, instance, largeFrom, onWaiting, store, time } = this.#options.ports
    const asked = time.mark()
    const fleet = await calls.ask(() => store.beat({ instance, largeFrom }))
    this.#isBeating = false
    if (fleet === undefined) return
    onWaiting(fleet.waiting)
    this.#options.onBeat(fleet.recordsVersion, asked)
    const at = clock.monotonic()
    look(this.#watch, fleet, Math.min(LONGEST_LOOK_MS, at - (this.#heardAt ?? at)))
    this.#heardAt = at
    this.#reconcile(fleet.stewards)
  }

  /** Of every partition that is served here. */
  get lanes(): readonly ServedLane[] {
    return [...this.partitions.values()].flatMap(({ lanes }) => [...lanes.values()])
  }

  /** A claim got no answer. The partition is left, so that its token changes. */
  doubt(partition: ServedPartition, token: string): void {
    this.#doubts.push({ partition: partition.number, steward: partition.token, token })
    this.left.set(partition.number, partition)
    this.drop(partition)
  }

  /** The leases of this claim were never used: they are not lost, and will be put back. */
  isDoubted(token: string): boolean {
    return this.#doubts.some(doubt => doubt.token === token)
  }

  drop(partition: ServedPartition): void {
    if (partition.phase === 'gone') return
    partition.phase = 'gone'
    this.partitions.delete(partition.number)
    this.#moved.add(partition.number)
    this.#options.onDropped(partition)
  }

  /** Frees everything, for others to take. */
  giveAll(): void {
    for (const partition of this.partitions.values()) this.#move(partition.number, () => this.#give(partition))
  }

  #reconcile(stewards: readonly Steward[]): void {
    const recordOf = new Map(stewards.map(steward => [steward.partition, steward]))
    const { instance } = this.#options.ports
    const others = [...this.#watch.keys()].filter(other => other !== instance && isLive(this.#watch, other))
    this.#choose([instance, ...others])
    for (let number = 0; number < PARTITIONS; number++)
      if (!this.#moving.has(number) && !this.#moved.has(number))
        this.#reconcileOne(number, recordOf.get(number), !this.isStopping && this.#wanted[number]!)
    for (const doubt of this.#doubts)
      if (recordOf.get(doubt.partition)?.token !== doubt.steward && !this.#moved.has(doubt.partition))
        this.#move(doubt.partition, () => this.#resolve(doubt))
  }

  /** What this instance wants; reckoned anew only when an instance came or went. */
  #choose(live: readonly string[]): void {
    const fleet = live.toSorted().join(' ')
    if (fleet === this.#chosenAmong) return
    this.#chosenAmong = fleet
    const { instance } = this.#options.ports
    this.#wanted = Array.from({ length: PARTITIONS }, (_, number) => stewardFor(number, live) === instance)
  }

  #reconcileOne(number: number, record: Steward | undefined, isWanted: boolean): void {
    const served = this.partitions.get(number)
    if (record !== undefined && record.instance !== this.#options.ports.instance) this.left.delete(number)
    if (served !== undefined) {
      if (record?.token !== served.token) this.drop(served)
      else if (!isWanted) this.#move(number, () => this.#give(served))
      return
    }
    if (record === undefined) {
      if (isWanted) this.#move(number, () => this.#take(number, null))
    } else if (record.instance === this.#options.ports.instance) {
      this.#move(number, () => (isWanted ? this.#take(number, record.token) : this.#free(number, record.token)))
    } else if (isWanted && isDead(this.#watch, record.instance)) {
      this.#move(number, () => this.#take(number, record.token))
    }
  }

  async #take(number: number, from: string | null): Promise<void> {
    const { calls, instance, newToken, store, time } = this.#options.ports
    if (this.isStopping) return
    const token = newToken()
    const answer = await calls.ask(() => store.take({ partition: number, instance, token, from }))
    if (answer?.taken !== true) return
    for (const doubt of this.#doubts) if (doubt.partition === number) await this.#resolve(doubt)
    const partition = new ServedPartition({ number, token, takenAt: time.now(), wasServed: from !== null })
    this.partitions.set(number, partition)
    if (!(await this.#options.onTaken(partition))) return this.drop(partition)
    this.left.delete(number)
    if (this.isStopping) await this.#give(partition)
  }

  async #give(partition: ServedPartition): Promise<void> {
    this.drop(partition)
    await partition.claim
    await this.#options.onGiving(partition)
    await this.#free(partition.number, partition.token)
  }

  async #free(number: number, token: string): Promise<void> {
    const { calls, store } = this.#options.ports
    await calls.ask(() => store.give({ partition: number, steward: token }))
  }

  /** The partition's token has changed: from now on the late call is refused, and the leases that it made can be seen. */
  async #resolve(doubt: Doubt): Promise<void> {
    const { ports, onUnused } = this.#options
    const { calls, store } = ports
    const ask = { partitions: [doubt.partition], token: doubt.token }
    const leases = await allPages(calls, page => store.leases({ ...page, ...ask }))
    const tasks = leases && (await readLeased(ports, leases))
    if (tasks === undefined) return
    if (tasks.length > 0) onUnused(tasks)
    this.#doubts = this.#doubts.filter(other => other !== doubt)
  }

  /** One move of a partition at a time. */
  #move(number: number, move: () => Promise<void>): void {
    if (this.#moving.has(number)) return
    this.#moving.add(number)
    this.#moves.push(async () => {
      await move()
      this.#moving.delete(number)
      this.#moved.add(number)
    })
    if (this.#movesUnderWay < MOVES_AT_ONCE) void this.#moveOn()
  }

  async #moveOn(): Promise<void> {
    this.#movesUnderWay++
    for (let move = this.#moves.shift(); move !== undefined; move = this.#moves.shift()) await move()
    this.#movesUnderWay--
  }
}
