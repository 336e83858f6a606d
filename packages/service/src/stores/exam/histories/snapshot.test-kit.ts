import assert from 'node:assert/strict'
import { fingerprintOf } from '../../../task/cause.ts'
import { laneKey, queueKey } from '../../../task/lane.ts'
import type { ReplayCounts } from '../../../task/replay/counts.ts'
import { TASK_STATUSES, type AttemptRow, type Task, type TaskStatus } from '../../../task/task.ts'
import { causeIdOf } from '../../cause-id.ts'
import {
  RECORD_KINDS,
  type AuditEntry,
  type BodyName,
  type BodyRecord,
  type Cause,
  type LaneCounters,
  type LaneRecord,
  type LeaseHead,
  type QueueHead,
  type Store,
  type StoredRecord,
  type WaitingTasks,
} from '../../store.ts'
import { byQueue, compareText, everything, idsOf } from '../exam.test-kit.ts'

/** All that can be read from a store, in an order that does not depend on it. */
export interface Snapshot {
  /** The newest first. */
  readonly tasks: readonly Task[]
  readonly attempts: readonly (readonly AttemptRow[])[]
  readonly waiting: WaitingTasks
  readonly lanes: readonly LaneCounters[]
  readonly causes: readonly Cause[]
  /** The oldest death first. */
  readonly deadIds: readonly string[]
  readonly queues: readonly QueueHead[]
  readonly leases: readonly LeaseHead[]
  readonly memories: readonly LaneRecord[]
  readonly ends: readonly unknown[]
  readonly replays: readonly ReplayCounts[]
  readonly records: readonly StoredRecord[]
  readonly audit: readonly Omit<AuditEntry, 'auditId'>[]
  readonly bodies: readonly BodyRecord[]
}

export interface Scope {
  readonly partitions: readonly number[]
  readonly replayIds: readonly string[]
  readonly bodies: readonly BodyName[]
}

export async function snapshotOf(store: Store, { partitions, replayIds, bodies }: Scope): Promise<Snapshot> {
  const listed = await everything(page => store.list({ ...page, filter: {}, order: 'newest-first' }), 7)
  const tasks = await store.get(idsOf(listed))
  for (const [at, { request, ...task }] of tasks.entries()) {
    const { body: _, ...shown } = request
    assert.deepEqual(listed[at], { ...task, request: shown }, 'a list shows what get shows')
  }
  const dead = { filter: { status: 'EXHAUSTED' }, order: 'oldest-death-first' } as const
  const { items: ends } = await store.endsToTell({ partitions, perLane: 1_000, limit: 1_000 })
  return {
    tasks,
    attempts: await each(tasks, ({ taskId }) => everything(page => store.attempts({ ...page, taskId }), 3)),
    waiting: await waitingIn(store, { tasks: 1, lanes: 1 }),
    lanes: await everything(page => store.lanes(page), 2),
    causes: (await everything(page => store.causes(page), 3)).map(cause => comparable(cause, tasks)),
    deadIds: idsOf(await everything(page => store.list({ ...dead, ...page }), 7)),
    queues: (await everything(page => store.queues({ ...page, partitions }))).toSorted(byQueue),
    leases: await leasesIn(store, partitions),
    memories: (await everything(page => store.memories({ ...page, partitions }))).toSorted((one, other) =>
      compareText(one.lane, other.lane),
    ),
    ends: ends.toSorted((one, other) => compareText(one.taskId, other.taskId) || one.generation - other.generation),
    replays: await store.replayCounts(replayIds),
    records: (await each(RECORD_KINDS, kind => everything(page => store.records({ ...page, kind })))).flat(),
    audit: (await everything(page => store.audit(page), 5)).map(lineOf),
    bodies: await store.bodies(bodies),
  }
}

/** Ids are each store's own. */
function lineOf(entry: AuditEntry): Omit<AuditEntry, 'auditId'> {
  const { auditId: _, ...line } = entry
  return line
}

/** In the order of their ends; those that end at one instant are in no order. */
export async function leasesIn(store: Store, partitions: readonly number[], token?: string): Promise<LeaseHead[]> {
  const ask = { partitions, ...(token !== undefined && { token }) }
  const leases = await everything(page => store.leases({ ...page, ...ask }))
  assert.ok(
    leases.every(({ endsAt }, at) => endsAt >= (leases[at - 1]?.endsAt ?? 0)),
    'the earliest end comes first',
  )
  return leases.toSorted((one, other) => one.endsAt - other.endsAt || compareText(one.taskId, other.taskId))
}

export async function waitingIn(store: Store, largeFrom: { tasks: number; lanes: number }): Promise<WaitingTasks> {
  const { waiting } = await store.beat({ instance: 'a reader', largeFrom })
  return {
    ...waiting,
    tenants: waiting.tenants.toSorted((one, other) => compareText(one.tenant, other.tenant)),
    lanes: waiting.lanes.toSorted((one, other) => compareText(one.lane, other.lane)),
  }
}

/** The message is that of any of its dead letters: it is checked here, and compared without what differs. */
function comparable(cause: Cause, tasks: readonly Task[]): Cause {
  const { errorMessage, ...others } = cause
  const dead = tasks.filter(task => causeOf(task) === cause.causeId)
  const oldest = dead.toReversed().toSorted((one, other) => endOf(one) - endOf(other))
  assert.deepEqual(cause.sampleTaskIds, idsOf(oldest.slice(0, 3)), 'samples are those that died first')
  return { ...others, ...(errorMessage !== undefined && { errorMessage: fingerprintOf(errorMessage) }) }
}

/** Promises that hold of a store at every moment, whatever has happened to it. */
export function checkPromises(snapshot: Snapshot): void {
  const { tasks, attempts, waiting, lanes, causes, deadIds, queues, leases, replays } = snapshot
  assert.deepEqual(waiting.tasks, statusesOf(tasks), 'counters are what a count gives')
  for (const lane of lanes) checkLane(lane, tasks)
  const laneNames = new Set(tasks.map(laneKey))
  for (const lane of laneNames)
    assert.ok(
      lanes.some(counters => counters.lane === lane),
      'a lane with a task is listed',
    )
  const open = new Set(tasks.filter(isOpen).map(laneKey))
  assert.equal(waiting.openLanes, open.size, 'a lane is open while it has a task that goes on')
  const keys = tasks.map(({ tenant, idempotencyKey }) => `${tenant} ${idempotencyKey}`)
  assert.equal(new Set(keys).size, keys.length, 'a key has one task')

  const underWay = tasks.flatMap(({ taskId, state }) =>
    state.status === 'IN_FLIGHT' ? [`${taskId} ${state.lease.token} ${state.lease.endsAt}`] : [],
  )
  const listed = leases.map(({ taskId, token, endsAt }) => `${taskId} ${token} ${endsAt}`)
  assert.deepEqual(listed.toSorted(), underWay.toSorted(), 'IN_FLIGHT is token and lease')

  const firstDue = new Map<string, number>()
  for (const task of tasks) {
    if (task.state.status !== 'PENDING') continue
    const name = `${laneKey(task)}\n${queueKey(task.state.queue)}`
    firstDue.set(name, Math.min(task.state.nextAttemptAt, firstDue.get(name) ?? Infinity))
  }
  const heads = new Map(queues.map(({ lane, queue, dueAt }) => [`${lane}\n${queue}`, dueAt]))
  assert.deepEqual(heads, firstDue, 'every waiting task is found by listing')

  for (const [at, task] of tasks.entries()) checkAttempts(task, attempts[at] ?? [])
  const died = new Map<string, number>()
  for (const causeId of tasks.map(causeOf)) if (causeId !== undefined) died.set(causeId, (died.get(causeId) ?? 0) + 1)
  assert.deepEqual(new Map(causes.map(({ causeId, count }) => [causeId, count])), died, 'causes hold all dead letters')
  const dead = idsOf(tasks.filter(({ state }) => state.status === 'EXHAUSTED'))
  assert.deepEqual(deadIds.toSorted(), dead.toSorted(), 'dead letters are all listed')
  for (const { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled } of replays) {
    assert.ok(Math.min(waiting, underWay) >= 0 && waiting + underWay + sent <= moved && failed <= sent)
    assert.ok(succeeded + exhausted + cancelled <= moved - waiting - underWay, 'a task that waits has not ended')
  }
}

function checkLane(
  { lane, pending, inFlight, succeeded, exhausted, cancelled }: LaneCounters,
  tasks: readonly Task[],
): void {
  const { PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED } = statusesOf(
    tasks.filter(task => laneKey(task) === lane),
  )
  assert.deepEqual(
    [pending, inFlight, succeeded, exhausted, cancelled],
    [PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED],
    `counters of ${lane} are what a count gives`,
  )
}

function checkAttempts({ progress }: Task, attempts: readonly AttemptRow[]): void {
  const rows = attempts.filter(({ generation }) => generation === progress.generation)
  const numbers = rows.map(({ attemptNumber }) => attemptNumber)
  const first = progress.attemptNumber - rows.length
  const expected = rows.map((_, at) => first + at + 1)
  assert.deepEqual(numbers, expected, 'attempts of a generation are those that were counted')
}

/** Promises that hold between two moments of one store. */
export function checkProgress(before: Snapshot, after: Snapshot): void {
  const earlier = new Map(before.tasks.map(task => [task.taskId, task]))
  for (const task of after.tasks) {
    const was = earlier.get(task.taskId)
    if (was === undefined) continue
    assert.ok(task.version >= was.version, 'a version never goes back')
    if (task.version === was.version) assert.deepEqual(task, was, 'every change has another version')
    if (was.state.status === 'SUCCEEDED' || was.state.status === 'CANCELLED') assert.deepEqual(task, was)
    if (was.state.status === 'EXHAUSTED' && task.version > was.version)
      assert.ok(task.progress.generation > was.progress.generation, 'a dead letter changes only by a replay')
    const { generation, attemptNumber } = was.progress
    if (task.progress.generation === generation) assert.ok(task.progress.attemptNumber >= attemptNumber)
    else assert.ok(task.progress.generation > generation)
  }
}

function causeOf(task: Task): string | undefined {
  return task.state.status === 'EXHAUSTED' ? causeIdOf({ ...task, ...task.state }) : undefined
}

function endOf({ state }: Task): number {
  return state.status === 'EXHAUSTED' ? state.endedAt : Infinity
}

function isOpen({ state }: Task): boolean {
  return state.status === 'PENDING' || state.status === 'IN_FLIGHT'
}

function statusesOf(tasks: readonly Task[]): { [status in TaskStatus]: number } {
  const counts = TASK_STATUSES.map(status => [status, tasks.filter(({ state }) => state.status === status).length])
  return Object.fromEntries(counts) as { [status in TaskStatus]: number }
}

async function each<From, To>(from: readonly From[], read: (item: From) => Promise<To>): Promise<To[]> {
  const results: To[] = []
  for (const item of from) results.push(await read(item))
  return results
}
