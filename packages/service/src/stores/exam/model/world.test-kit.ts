import type { NewTask } from '../../../task/accept.ts'
import { callbackOf, laneOfCallback, type Callback } from '../../../task/callback.ts'
import { laneKey, partitionOf, queueKey } from '../../../task/lane.ts'
import { countChange, countMoved, NO_COUNTS, type ReplayCounts } from '../../../task/replay/counts.ts'
import type { AttemptRow, Task, TaskStatus } from '../../../task/task.ts'
import { causeIdOf } from '../../cause-id.ts'
import type { AuditEntry, AuditLine, BodyRecord, Hint, LaneMemory, Steward, StoredRecord } from '../../store.ts'
import { idOf } from '../tasks.test-kit.ts'

/** A task, and what only the store knows of it. */
export interface Entry {
  /** Replaced as a whole by every write, so that an answer stays as it was. */
  task: Task
  /** The order of arrival. */
  readonly number: number
  readonly lane: string
  readonly partition: number
  readonly requestHash: string
  readonly keyGiven: boolean
  readonly attempts: AttemptRow[]
  /** The steward that made the newest claim. */
  claimedBy?: string
  /** The answer to the newest settle. */
  settled?: { readonly token: string; readonly status: TaskStatus }
  /** Of a dead letter. */
  causeId?: string | undefined
}

/** All that a model knows. Nothing is indexed: verbs look through it and sort at every call. */
export class World {
  /** In order of arrival. */
  readonly entries: Entry[] = []
  readonly lanes: Map<string, { attempts: number; firstAttempts: number }> = new Map()
  readonly causes: Map<string, { readonly firstAt: number; readonly lastAt: number }> = new Map()
  readonly replays: Map<string, ReplayCounts> = new Map()
  /** In order of ending. */
  readonly ends: { readonly partition: number; readonly lane: string; readonly end: Callback }[] = []
  readonly beats: Map<string, number> = new Map()
  readonly stewards: Map<number, Steward> = new Map()
  readonly memories: Map<string, LaneMemory> = new Map()
  readonly records: StoredRecord[] = []
  recordsVersion = 0
  readonly audit: AuditEntry[] = []
  readonly bodies: BodyRecord[] = []
  /** Of the call that is applied now. */
  readonly hints: Hint[] = []
  #lastNumber = 0

  find(taskId: string): Entry | undefined {
    return this.entries.find(({ task }) => task.taskId === taskId)
  }

  isSteward(partition: number, token: string): boolean {
    return this.stewards.get(partition)?.token === token
  }

  add({ queue, dueAt, requestHash, keyGiven, ...accepted }: NewTask): void {
    const lane = laneKey(accepted)
    const entry: Entry = {
      task: { ...accepted, state: { status: 'PENDING', nextAttemptAt: dueAt, queue }, version: 1 },
      number: ++this.#lastNumber,
      lane,
      partition: partitionOf(lane),
      requestHash,
      keyGiven,
      attempts: [],
    }
    this.entries.push(entry)
    if (!this.lanes.has(lane)) this.lanes.set(lane, { attempts: 0, firstAttempts: 0 })
    this.hint(entry)
  }

  /** The one way in which a task changes. */
  write(entry: Entry, change: Pick<Task, 'state'> & Partial<Pick<Task, 'progress' | 'lastAttempt'>>): Task {
    const before = entry.task
    const task = { ...before, ...change, version: before.version + 1 }
    entry.task = task
    this.#countReplay(before, task)
    this.#noteDeath(entry)
    const end = callbackOf(task)
    if (end !== undefined) this.ends.push({ partition: entry.partition, lane: laneKey(laneOfCallback(end)), end })
    return task
  }

  addAttempt(entry: Entry, attempt: AttemptRow): void {
    entry.attempts.push(attempt)
    const { attempts, firstAttempts } = this.lanes.get(entry.lane) ?? { attempts: 0, firstAttempts: 0 }
    const isFirst = Number(attempt.attemptNumber === 1)
    this.lanes.set(entry.lane, { attempts: attempts + 1, firstAttempts: firstAttempts + isFirst })
  }

  hint({ lane, partition, task: { state } }: Entry): void {
    if (state.status !== 'PENDING') return
    this.hints.push({ partition, lane, queue: queueKey(state.queue), dueAt: state.nextAttemptAt })
  }

  note(line: AuditLine | undefined, now: number): void {
    if (line === undefined) return
    this.audit.push({ auditId: idOf(++this.#lastNumber, now, 0), at: now, ...plain(line) })
  }

  #countReplay(before: Task, { state, progress, lastAttempt }: Task): void {
    const { replayId, generation, attemptNumber } = progress
    if (replayId === undefined) return
    const counts = this.replays.get(replayId)
    if (generation > before.progress.generation) {
      this.replays.set(replayId, countMoved(counts ?? NO_COUNTS))
      return
    }
    // A replay that was removed counts no more.
    if (counts === undefined) return
    const isFirst = attemptNumber === 1 && before.progress.attemptNumber === 0
    const firstOutcome = isFirst ? lastAttempt?.outcome : undefined
    const change = { from: before.state.status, status: state.status, attemptNumber, firstOutcome }
    this.replays.set(replayId, countChange(counts, change))
  }

  #noteDeath(entry: Entry): void {
    const { state } = entry.task
    entry.causeId = undefined
    if (state.status !== 'EXHAUSTED') return
    const causeId = causeIdOf({ ...entry.task, reason: state.reason, held: state.held })
    const isFirst = !this.entries.some(other => other.causeId === causeId)
    const firstAt = isFirst ? state.endedAt : (this.causes.get(causeId)?.firstAt ?? state.endedAt)
    this.causes.set(causeId, { firstAt, lastAt: state.endedAt })
    entry.causeId = causeId
  }
}

/** As JSON keeps it. */
export function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}
