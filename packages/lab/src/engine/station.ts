/**
 * Where calls are worked on: servers, and a waiting room before them.
 *
 *   arrive ──► waiting ──► served ──► elsewhere ──► answer
 *      │          │           ▲           (what it calls downstream)
 *      └──────────┴─ refused ─┴─► answer
 *
 *  1. As many are served at once as there are servers; a stall lets those that are served end, and nobody begin.
 *  2. An answer goes to whoever waits for it; one that nobody waits for is work in vain, and is counted as that.
 */
import type { Draw } from '../chance/draws.ts'
import type { Die } from '../chance/streams.ts'
import type { StationMeter } from '../measure/station-meter.ts'
import { ABANDONED, ELSEWHERE, QUEUED, SERVED, WRITING } from './call-marks.ts'
import { OF_CALL, OWNERS, type Core } from './core.ts'
import { SUCCESS, TRANSIENT, UNSENT } from './outcomes.ts'
import * as field from './rows.ts'
import type { Tier } from './tier.ts'
import type { WaitingRoom } from './waiting-room.ts'

const { ARRIVED_AT, EXPIRES_AT, MARKS, OUTCOME, PENDING, PHASE, SERVED_FROM, WIDTH } = field

/** What troubles change. */
export interface Condition {
  /** 1 is as usual, 0 a stall. */
  readonly speed: number
  /** Since when, if it is coming back slowly from a trouble. */
  readonly recoversFrom: number
  readonly errorRate: number
  readonly errorMs: Draw | undefined
  readonly isUnreachable: boolean
  readonly addedMs: number
}

export interface StationSpec {
  readonly servers: number
  readonly serviceMs: Draw
  readonly serviceMsPerCall: number
  readonly room: WaitingRoom
  readonly dropsExpired: boolean
  readonly cancels: boolean
  readonly isContended: boolean
  readonly slowStartMs: number
  readonly tier: Tier | undefined
  /** What refused calls come to, by number. */
  readonly refusal: number
  readonly die: Die
  readonly meter: StationMeter
  /** On its way back to whoever waits. */
  readonly answer: (call: number) => void
  /** Under contention: back with what was read, and here again to write. */
  readonly comeAgain: (call: number) => void
}

export class Station {
  readonly #core: Core
  readonly #spec: StationSpec
  #condition: Condition
  #busy = 0
  /** Of the row that everybody wants to change. */
  #version = 0

  constructor(core: Core, spec: StationSpec, condition: Condition) {
    this.#core = core
    this.#spec = spec
    this.#condition = condition
  }

  get waiting(): number {
    return this.#spec.room.length
  }

  /** A trouble begins or ends. */
  change(condition: Condition): void {
    this.#condition = condition
    this.#serveWaiting()
  }

  arrive(call: number): void {
    const { calls, clock } = this.#core
    const { room, servers, meter, isContended } = this.#spec
    const row = call * WIDTH
    const { data } = calls
    if (isContended && !this.#isWriting(row)) return this.#read(call)
    data[row + ARRIVED_AT] = clock.now
    meter.arrived(data[row + MARKS]!)
    if (this.#condition.isUnreachable) return this.#answer(call, UNSENT)
    if (this.#busy < servers && room.length === 0 && this.#condition.speed > 0) return this.#serve(call)
    if (room.length >= room.maxLength) return this.#refuse(call)
    data[row + PHASE] = QUEUED
    room.add(call)
    meter.queued(room.length)
  }

  /** Its service is over. */
  served(call: number): void {
    const { calls } = this.#core
    const { tier, isContended } = this.#spec
    const row = call * WIDTH
    const isFine = calls.data[row + OUTCOME] === SUCCESS
    this.#leaveServer(row)
    if (isContended && isFine) this.#write(row)
    if (tier !== undefined && isFine) {
      calls.data[row + PHASE] = ELSEWHERE
      this.#serveWaiting()
      return tier.begin(call)
    }
    this.#serveWaiting()
    this.#spec.answer(call)
  }

  /** What it called downstream has ended. */
  returned(call: number, isWell: boolean): void {
    this.#core.calls.data[call * WIDTH + OUTCOME] = isWell ? SUCCESS : TRANSIENT
    this.#spec.answer(call)
  }

  /** Its caller has gone. True when that ends it here; else it goes on in vain. */
  abandon(call: number): boolean {
    const { calls, agenda } = this.#core
    if (!this.#spec.cancels) return false
    const row = call * WIDTH
    const phase = calls.data[row + PHASE]!
    if (phase === QUEUED) this.#spec.room.remove(call)
    else if (phase === SERVED) {
      agenda.clear(call * OWNERS + OF_CALL)
      this.#leaveServer(row)
      this.#serveWaiting()
    } else if (phase !== ELSEWHERE) return false
    return true
  }

  #serve(call: number): void {
    const { calls, clock, agenda } = this.#core
    const { serviceMs, serviceMsPerCall, die } = this.#spec
    const { errorRate, errorMs, addedMs } = this.#condition
    const row = call * WIDTH
    const { data } = calls
    const fails = errorRate > 0 && die() < errorRate
    const ms = (fails && errorMs !== undefined ? errorMs() : serviceMs()) + serviceMsPerCall * this.#busy
    data[row + PHASE] = SERVED
    data[row + OUTCOME] = fails ? TRANSIENT : SUCCESS
    data[row + SERVED_FROM] = clock.now
    this.#busy++
    agenda.set(call * OWNERS + OF_CALL, clock.now + ms / this.#speed() + addedMs)
  }

  #serveWaiting(): void {
    const { room, servers } = this.#spec
    while (room.length > 0 && this.#busy < servers && this.#condition.speed > 0) {
      const call = room.next
      const isDropped = room.isDropped(call, this.#core.clock.now) || this.#isExpired(call)
      room.remove(call)
      if (isDropped) this.#refuse(call)
      else this.#serve(call)
    }
  }

  #isExpired(call: number): boolean {
    return this.#spec.dropsExpired && this.#core.calls.data[call * WIDTH + EXPIRES_AT]! <= this.#core.clock.now
  }

  #leaveServer(row: number): void {
    const { calls, clock } = this.#core
    this.#busy--
    const isInVain = (calls.data[row + MARKS]! & ABANDONED) !== 0
    this.#spec.meter.worked(clock.now - calls.data[row + SERVED_FROM]!, isInVain, calls.data[row + OUTCOME] === SUCCESS)
  }

  #speed(): number {
    const { speed, recoversFrom } = this.#condition
    const { slowStartMs } = this.#spec
    if (slowStartMs === 0 || recoversFrom === -Infinity) return speed
    // Never quite zero: what begins must end.
    return speed * Math.min(1, Math.max(0.05, (this.#core.clock.now - recoversFrom) / slowStartMs))
  }

  #refuse(call: number): void {
    this.#spec.meter.refused()
    this.#answer(call, this.#spec.refusal)
  }

  #answer(call: number, outcome: number): void {
    this.#core.calls.data[call * WIDTH + OUTCOME] = outcome
    this.#spec.answer(call)
  }

  #isWriting(row: number): boolean {
    return (this.#core.calls.data[row + MARKS]! & WRITING) !== 0
  }

  #read(call: number): void {
    const { data } = this.#core.calls
    data[call * WIDTH + PENDING] = this.#version
    data[call * WIDTH + MARKS]! |= WRITING
    this.#spec.comeAgain(call)
  }

  #write(row: number): void {
    const { data } = this.#core.calls
    if (data[row + PENDING] === this.#version) this.#version++
    else data[row + OUTCOME] = TRANSIENT
  }
}
