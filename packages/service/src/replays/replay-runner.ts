/**
 * Runs the replays of the partitions that this instance serves. It remembers nothing that it could not read again: each step
 * begins with the record and the counts, and ends with a write on condition that nobody else has written. A step that was
 * cut off half-way is made again, and what it had moved is no longer dead: twice is once.
 */
import type { Clock } from '@secondwind/resilience'
import { Policies } from '../dispatch/policies.ts'
import type { AuditLine, BacklogLimits, TaskStore } from '../stores/task-store.ts'
import { replayed } from '../task/accept.ts'
import { NO_COUNTS, type ReplayCounts } from '../task/replay/counts.ts'
import type { DeadLetter } from '../task/replay/dead-letter.ts'
import { isUnderWay, type ReplayDocument } from '../task/replay/replay.ts'
import { countPage, skippedBecause } from '../task/replay/selection.ts'
import { afterMove, dueAtOf, LOOKAHEAD_MS, nextStep, type ReplayMoment, type ReplayStep } from '../task/replay/step.ts'
import { SYSTEM } from '../task/system.ts'
import { partitionOfTask } from '../task/task-id.ts'
import { readCandidates } from './candidates.ts'
import { findReplay, storedReplay, writeReplay, type StoredReplay } from './stored-replay.ts'
import {
  aheadOf,
  firstDue,
  newTenantReplays,
  seeReplays,
  turnAt,
  type AwakeReplay,
  type TenantReplays,
} from './tenant-replays.ts'

export interface ReplayRunnerOptions {
  readonly store: TaskStore
  readonly clock: Clock
  /** The store's time. */
  readonly now: () => number
  /** Whether this instance is the steward of a partition. */
  readonly serves: (partition: number) => boolean
  /** What finds no room waits for it as a dead letter, and what comes after it behind it. Left out: there is room. */
  readonly backlog?: BacklogLimits
  readonly onProblem: (error: unknown) => void
  readonly onMoved?: (count: number) => void
  /** One was written, with what has become of its tasks so far. */
  readonly onChanged?: (stored: StoredReplay, counts: ReplayCounts) => void
}

/** Between two steps of what is under way: twice in the time that is planned ahead. */
const STEP_MS = LOOKAHEAD_MS / 2
/** Where its next turn is further off, or its results are waited for. */
const REST_MS = 200
/** Between two looks at all there is: another instance may have set one going. */
const LOOK_MS = 2_000
const PAGE = 200
/** Of that size: more replays than that are not looked after, but each tenant's are few. */
const MOST_PAGES = 100
/** Dead letters that one step of counting looks at. */
const COUNT_PAGE = 1_000
/** Pages that one step of moving reads in search of something to move. */
const MOST_MOVE_PAGES = 5

export class ReplayRunner {
  readonly #options: ReplayRunnerOptions
  readonly #policies: Policies
  readonly #tenants = new Map<string, TenantReplays>()
  #lookedAt = -Infinity
  #nap = new AbortController()

  constructor(options: ReplayRunnerOptions) {
    this.#options = options
    this.#policies = new Policies(options.store, { read: async call => ({ value: await call() }) })
  }

  /** One of a tenant's has changed: they are looked at now. */
  wake(tenant: string): void {
    this.#of(tenant).isLookDue = true
    this.#nap.abort()
  }

  /** Until the signal. What fails is told, and tried again. */
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

  /** Those that are not at rest, of one tenant or of all. What is at rest has its step now, and is left alone until the next look. */
  async #look(tenant?: string): Promise<StoredReplay[]> {
    const { store, serves } = this.#options
    const awake: StoredReplay[] = []
    const ask = { kind: 'replay', limit: PAGE, ...(tenant !== undefined && { tenant }) } as const
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await store.records({ ...ask, ...(cursor !== undefined && { cursor }) })
      for (const stored of page.items.map(storedReplay)) {
        if (stored.replay.status === 'PLANNING' || isUnderWay(stored.replay)) awake.push(stored)
        else if (serves(partitionOfTask(stored.replayId))) await this.#take(stored, NOTHING_KNOWN)
      }
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    return awake
  }

  /** What fails for one tenant is tried again later, and keeps nobody else waiting. */
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
    const counts = replay.status === 'PLANNING' ? NO_COUNTS : await store.replayCounts(replayId)
    const ahead = isUnderWay(replay) ? aheadOf(stored, replays) : undefined
    return this.#take(stored, { counts, ...(ahead !== undefined && { ahead }) })
  }

  /** Answers how long the replay can be left alone. */
  async #take(stored: StoredReplay, known: Omit<ReplayMoment, 'now'>): Promise<number> {
    const { store, now } = this.#options
    const { replayId, tenant, version } = stored
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
        // Whoever waited for it can go on.
        if (isUnderWay(stored.replay) && !isUnderWay(step.replay)) this.#of(tenant).isLookDue = true
        return 0
      case 'forget':
        await store.forgetReplay(replayId)
        await store.writeRecord({ kind: 'replay', id: replayId, tenant, document: null, ifVersion: version })
        return LOOK_MS
    }
  }

  async #count(stored: StoredReplay): Promise<void> {
    const { store, now } = this.#options
    const page = await readCandidates(store, stored, { cursor: stored.replay.cursor, limit: COUNT_PAGE })
    const candidates = []
    for (const letter of page.letters)
      candidates.push({ ...letter, hasPolicy: (await this.#policyOf(letter)) !== 'missing' })
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
    const { store, backlog, onMoved } = this.#options
    const { replayId, replay } = stored
    const asks = []
    let cursor = replay.cursor
    for (let pages = 0; pages < MOST_MOVE_PAGES && asks.length < turns.length; pages++) {
      const page = await readCandidates(store, stored, { cursor, limit: turns.length - asks.length })
      for (const letter of page.letters) {
        const policy = await this.#policyOf(letter)
        if (policy === 'missing' || skippedBecause(replay, { ...letter, hasPolicy: true }) !== undefined) continue
        const dueAt = dueAtOf(turns[asks.length]!)
        const progress = { ...replayed(letter, policy, dueAt), replayId }
        asks.push({ taskId: letter.taskId, generation: letter.progress.generation, progress, dueAt })
      }
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    const { results } = asks.length === 0 ? { results: [] } : await store.replayMany(asks, backlog)
    const taken = turns.slice(0, asks.length).filter((_, at) => results[at] !== 'full')
    const isFull = taken.length < asks.length
    if (isFull && taken.length === 0) {
      if (!replay.waitsForRoom) await this.#write(stored, { ...replay, waitsForRoom: true }, moment.counts)
      return false
    }
    onMoved?.(taken.length)
    // Those without room are dead letters still: they are found again where this step began.
    const next = isFull ? replay.cursor : cursor
    const isWalked = !isFull && cursor === undefined
    await this.#write(stored, afterMove(replay, { taken, isWalked, nextCursor: next }, moment), moment.counts)
    return true
  }

  async #write(stored: StoredReplay, replay: ReplayDocument, counts: ReplayCounts, audit?: AuditLine): Promise<void> {
    const { store, onChanged } = this.#options
    const written = await writeReplay(store, stored, replay, audit)
    if (written !== undefined) onChanged?.(written, counts)
  }

  async #policyOf(letter: DeadLetter): Promise<Exclude<Awaited<ReturnType<Policies['find']>>, undefined>> {
    return (await this.#policies.find(letter))!
  }
}

/** Until its next turn can be planned. */
function restOf({ nextAt, isWalked }: ReplayDocument, now: number): number {
  return isWalked ? REST_MS : Math.min(REST_MS, Math.max(STEP_MS, nextAt - LOOKAHEAD_MS - now))
}

/** What is at rest has nothing to do with counts. */
const NOTHING_KNOWN = { counts: NO_COUNTS }

/** What the service decides by itself is written down where somebody would ask who it was. */
function auditOf({ replayId, tenant, replay: before }: StoredReplay, after: ReplayDocument): AuditLine | undefined {
  const line = { tenant, actor: SYSTEM, subject: replayId } as const
  if (after.status === before.status) return undefined
  if (after.status === 'STOPPED') return { ...line, action: 'replay.stop', details: { ...after.stopped } }
  if (after.status === 'CANCELLED') return { ...line, action: 'replay.cancel', details: { endedFor: after.endedFor } }
  return undefined
}
