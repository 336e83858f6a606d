/**
 * Runs the replays of the partitions that this instance serves. It remembers nothing that it could not read again: each step
 * begins with the record and the counts, and ends with a write of the version that was read. A step that was cut off
 * half-way is made again: the tasks that it had moved are no longer dead letters, so twice is once.
 */
import type { Clock } from '@secondwind/resilience'
import { neededForTask } from '../bodies/needed-until.ts'
import { recordPages } from '../stores/record-pages.ts'
import type { AuditLine, Store } from '../stores/store.ts'
import { NO_COUNTS, type ReplayCounts } from '../task/replay/counts.ts'
import { isUnderWay, type ReplayDocument } from '../task/replay/replay.ts'
import { countPage } from '../task/replay/selection.ts'
import { afterMove, LOOKAHEAD_MS, nextStep, type ReplayMoment, type ReplayStep } from '../task/replay/step.ts'
import { SYSTEM } from '../task/system.ts'
import { partitionOfTask } from '../task/lane.ts'
import { readCandidates } from './candidates.ts'
import { gatherMoves, type MovePorts, type Moves } from './gather-moves.ts'
import { countsOf, findReplay, forgetReplay, storedReplay, writeReplay, type StoredReplay } from './stored-replay.ts'
import {
  aheadOf,
  firstDue,
  newTenantReplays,
  seeReplays,
  turnAt,
  type AwakeReplay,
  type TenantReplays,
} from './tenant-replays.ts'

export interface ReplayRunnerOptions extends MovePorts {
  readonly store: ReplayRunnerStore
  readonly clock: Clock
  /** The store's time. */
  readonly now: () => number
  /** Whether this instance is the steward of a partition. */
  readonly serves: (partition: number) => boolean
  readonly onProblem: (error: unknown) => void
  /** So many tasks were brought back. */
  readonly onMoved?: (count: number) => void
  /** A replay was written; these are the counts of its tasks. */
  readonly onChanged?: (stored: StoredReplay, counts: ReplayCounts) => void
}

export type ReplayRunnerStore = Pick<
  Store,
  'record' | 'records' | 'write' | 'get' | 'list' | 'replay' | 'replayCounts' | 'bodies'
>

/** Between two steps of a run: two steps in the time that is planned ahead. */
const STEP_MS = LOOKAHEAD_MS / 2
/** When its next turn is further off, or its results are waited for. */
const REST_MS = 200
/** Between two looks at all replays: another instance may have started one. */
const LOOK_MS = 2_000
/** Of 200 replays. Those behind these pages are not looked after, but each tenant has few. */
const MOST_PAGES = 100
/** Dead letters that one step of counting looks at. */
const COUNT_PAGE = 200

export class ReplayRunner {
  readonly #options: ReplayRunnerOptions
  readonly #tenants = new Map<string, TenantReplays>()
  #lookedAt = -Infinity
  #nap = new AbortController()

  constructor(options: ReplayRunnerOptions) {
    this.#options = options
  }

  /** A replay of this tenant has changed: they are looked at now. */
  wake(tenant: string): void {
    this.#of(tenant).isLookDue = true
    this.#nap.abort()
  }

  /** Until the signal. A step that fails is reported and tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onProblem } = this.#options
    while (!signal.aborted) {
      let napMs = LOOK_MS
      this.#nap = new AbortController()
      try {
        napMs = await this.round()
      } catch (error) {
        if (!signal.aborted) onProblem(error)
      }
      await clock.sleep(napMs, AbortSignal.any([signal, this.#nap.signal])).catch(() => undefined)
    }
  }

  /** One turn of each tenant; answers how long there is nothing to do. */
  async round(): Promise<number> {
    const { now } = this.#options
    if (now() - this.#lookedAt >= LOOK_MS) await this.#lookAtAll()
    let nextAt = this.#lookedAt + LOOK_MS
    for (const replays of this.#tenants.values()) {
      if (turnAt(replays) <= now()) await this.#turnOf(replays)
      nextAt = Math.min(nextAt, turnAt(replays))
    }
    return Math.max(0, nextAt - now())
  }

  async #lookAtAll(): Promise<void> {
    const lookedAt = this.#options.now()
    for (const replays of this.#tenants.values()) replays.isLookDue = false
    const found = await this.#look()
    for (const { tenant } of found) this.#of(tenant)
    for (const [tenant, replays] of this.#tenants) {
      const its = found.filter(stored => stored.tenant === tenant)
      if (its.length > 0 || replays.isLookDue) seeReplays(replays, its, lookedAt)
      else this.#tenants.delete(tenant)
    }
    this.#lookedAt = lookedAt
  }

  #of(tenant: string): TenantReplays {
    const replays = this.#tenants.get(tenant) ?? newTenantReplays(tenant)
    this.#tenants.set(tenant, replays)
    return replays
  }

  /** The replays that are not at rest, of one tenant or of all. Those at rest have their step now, and the next at the next look. */
  async #look(tenant?: string): Promise<StoredReplay[]> {
    const { store, serves } = this.#options
    const awake: StoredReplay[] = []
    let pages = 0
    for await (const page of recordPages(store, { kind: 'replay', ...(tenant !== undefined && { tenant }) })) {
      for (const stored of page.map(storedReplay)) {
        if (stored.replay.status === 'PLANNING' || isUnderWay(stored.replay)) awake.push(stored)
        else if (serves(partitionOfTask(stored.replayId))) await this.#take(stored, NOTHING_KNOWN)
      }
      if (++pages === MOST_PAGES) break
    }
    return awake
  }

  /** A step that fails for one tenant is tried again later, and keeps no other tenant waiting. */
  async #turnOf(replays: TenantReplays): Promise<void> {
    const { now, onProblem } = this.#options
    let next: AwakeReplay | undefined
    try {
      if (replays.isLookDue) await this.#lookAt(replays)
      next = firstDue(replays)
      if (next !== undefined && next.dueAt <= now()) next.dueAt = now() + (await this.#stepOf(next, replays))
    } catch (error) {
      onProblem(error)
      if (next === undefined) replays.nextLookAt = now() + LOOK_MS
      else next.dueAt = now() + LOOK_MS
    }
  }

  async #lookAt(replays: TenantReplays): Promise<void> {
    const lookedAt = this.#options.now()
    replays.isLookDue = false
    try {
      seeReplays(replays, await this.#look(replays.tenant), lookedAt)
    } catch (error) {
      replays.isLookDue = true
      throw error
    }
  }

  async #stepOf({ stored: { replayId } }: AwakeReplay, replays: TenantReplays): Promise<number> {
    const { store, serves } = this.#options
    if (!serves(partitionOfTask(replayId))) return LOOK_MS
    const stored = await findReplay(store, replayId)
    if (stored === undefined) return LOOK_MS
    const { replay } = stored
    // Another may have been set going before it, and not been seen yet.
    if (isUnderWay(replay) && replay.start.at > replays.lookedAt) {
      replays.isLookDue = true
      return 0
    }
    const counts = replay.status === 'PLANNING' ? NO_COUNTS : await countsOf(store, replayId)
    const ahead = isUnderWay(replay) ? aheadOf(stored, replays) : undefined
    return this.#take(stored, { counts, ...(ahead !== undefined && { ahead }) })
  }

  /** Answers how long the replay can be left alone. */
  async #take(stored: StoredReplay, known: Omit<ReplayMoment, 'now'>): Promise<number> {
    const { store, now } = this.#options
    const moment = { ...known, now: now() }
    const step = nextStep(stored.replay, moment)
    switch (step.kind) {
      case 'rest':
        return isUnderWay(stored.replay) ? restOf(stored.replay, moment.now) : LOOK_MS
      case 'count':
        await this.#count(stored)
        return 0
      case 'move':
        return (await this.#move(stored, step, moment)) ? STEP_MS : REST_MS
      case 'become':
        await this.#write(stored, step.replay, moment.counts, auditOf(stored, step.replay))
        // Another replay may have waited for it.
        if (isUnderWay(stored.replay) && !isUnderWay(step.replay)) this.#of(stored.tenant).isLookDue = true
        return 0
      case 'forget':
        await forgetReplay(store, stored)
        return LOOK_MS
    }
  }

  async #count(stored: StoredReplay): Promise<void> {
    const { store, policies, now } = this.#options
    const page = await readCandidates(store, stored, { cursor: stored.replay.cursor, limit: COUNT_PAGE })
    const candidates = []
    for (const letter of page.letters)
      candidates.push({ ...letter, hasPolicy: (await policies.find(letter)) !== 'missing' })
    const { gone, nextCursor } = page
    const counted = { candidates, gone, ...(nextCursor !== undefined && { nextCursor }) }
    await this.#write(stored, countPage(stored.replay, counted, now()), NO_COUNTS)
  }

  /** False while there is no room for any: nothing was moved. */
  async #move(
    stored: StoredReplay,
    { turns }: Extract<ReplayStep, { kind: 'move' }>,
    moment: ReplayMoment,
  ): Promise<boolean> {
    const { replay } = stored
    const moves = await gatherMoves(this.#options, stored, turns)
    const { asks, cursor: nextCursor, isFull } = moves
    if (isFull && asks.length === 0) {
      if (!replay.waitsForRoom) await this.#write(stored, { ...replay, waitsForRoom: true }, moment.counts)
      return false
    }
    await this.#bringBack(moves)
    const taken = turns.slice(0, asks.length)
    const isWalked = !isFull && nextCursor === undefined
    await this.#write(stored, afterMove(replay, { taken, isWalked, nextCursor }, moment), moment.counts)
    return true
  }

  async #bringBack({ asks, bodies }: Moves): Promise<void> {
    const { store, onMoved } = this.#options
    if (asks.length === 0) return
    // Before the tasks go on: if the process dies in between, bytes are kept too long, and never too short.
    if (bodies.length > 0) await store.bodies(bodies, Math.max(...asks.map(({ progress }) => neededForTask(progress))))
    const { results } = await store.replay(asks)
    onMoved?.(results.filter(({ kind }) => kind === 'changed').length)
  }

  async #write(stored: StoredReplay, replay: ReplayDocument, counts: ReplayCounts, audit?: AuditLine): Promise<void> {
    const { store, onChanged } = this.#options
    const written = await writeReplay(store, stored, replay, audit)
    if (written !== undefined) onChanged?.(written, counts)
  }
}

/** Until its next turn can be planned. */
function restOf({ nextAt, isWalked }: ReplayDocument, now: number): number {
  return isWalked ? REST_MS : Math.min(REST_MS, Math.max(STEP_MS, nextAt - LOOKAHEAD_MS - now))
}

/** A replay at rest needs no counts. */
const NOTHING_KNOWN = { counts: NO_COUNTS }

/** The audit says what the service decided by itself, where people would ask who it was. */
function auditOf({ replayId, tenant, replay: before }: StoredReplay, after: ReplayDocument): AuditLine | undefined {
  const line = { tenant, actor: SYSTEM, subject: replayId } as const
  if (after.status === before.status) return undefined
  if (after.status === 'STOPPED') return { ...line, action: 'replay.stop', details: { ...after.stopped } }
  if (after.status === 'CANCELLED') return { ...line, action: 'replay.cancel', details: { endedFor: after.endedFor } }
  return undefined
}
