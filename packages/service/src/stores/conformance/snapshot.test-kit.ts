import assert from 'node:assert/strict'
import { fingerprintOf } from '../../task/cause.ts'
import { causeIdOf } from '../cause-id.ts'
import { laneKey, queueKey } from '../../task/lane.ts'
import type { ReplayCounts } from '../../task/replay/counts.ts'
import type { DeadLetter } from '../../task/replay/dead-letter.ts'
import type { AttemptRow, Task, TaskStatus } from '../../task/task.ts'
import type {
  BodyRecord,
  Cause,
  Counters,
  LaneCounters,
  LaneRecord,
  LeaseHead,
  PolicyRecord,
  QueueHead,
  TaskStore,
} from '../task-store.ts'
import { everything } from './exam.test-kit.ts'

/** All that can be read from a store, in an order that does not depend on it. */
export interface Snapshot {
  readonly tasks: readonly Task[]
  readonly attempts: readonly (readonly AttemptRow[])[]
  readonly counters: Counters
  readonly lanes: readonly LaneCounters[]
  readonly causes: readonly Cause[]
  readonly queues: readonly QueueHead[]
  readonly leases: readonly LeaseHead[]
  readonly memories: readonly LaneRecord[]
  readonly policies: readonly (readonly PolicyRecord[])[]
  readonly deadLetters: readonly DeadLetter[]
  readonly replays: readonly ReplayCounts[]
  readonly bodies: readonly (BodyRecord | undefined)[]
}

export interface Scope {
  readonly tenants: readonly string[]
  readonly partitions: readonly number[]
  readonly policyIds: readonly string[]
  readonly replayIds: readonly string[]
  readonly bodyRefs: readonly string[]
}

export async function snapshotOf(store: TaskStore, scope: Scope): Promise<Snapshot> {
  const { tenants, partitions, policyIds, replayIds, bodyRefs } = scope
  const tasks = await flat(tenants, tenant => everything(page => store.list({ ...page, filter: { tenant } }), 7))
  for (const task of tasks) assert.deepEqual(await store.get(task.taskId), task, 'a list shows what get does not')
  const causes = await flat(tenants, tenant => everything(page => store.causes({ ...page, tenant }), 3))
  return {
    tasks,
    attempts: await each(tasks, ({ taskId }) => everything(page => store.attempts({ ...page, taskId }), 3)),
    counters: await store.counters(),
    lanes: await everything(page => store.laneCounters(page), 2),
    causes: causes.map(cause => comparable(cause, tasks)),
    queues: (await flat(partitions, partition => everything(page => store.queues({ ...page, partition })))).toSorted(
      (one, other) => compareText(`${one.lane}\n${one.queue}`, `${other.lane}\n${other.queue}`),
    ),
    leases: (await flat(partitions, partition => everything(page => store.leases({ ...page, partition })))).toSorted(
      (one, other) => one.endsAt - other.endsAt || compareText(one.taskId, other.taskId),
    ),
    memories: (
      await flat(partitions, partition => everything(page => store.memories({ ...page, partition })))
    ).toSorted((one, other) => compareText(one.lane, other.lane)),
    policies: await each(
      tenants.flatMap(tenant => policyIds.map(policyId => ({ tenant, policyId }))),
      name => everything(page => store.policyVersions({ ...name, ...page })),
    ),
    deadLetters: await flat(tenants, tenant =>
      everything(page => store.deadLetters({ ...page, filter: { tenant } }), 7),
    ),
    replays: await each(replayIds, replayId => store.replayCounts(replayId)),
    bodies: await flat(tenants, tenant => each(bodyRefs, bodyRef => store.body({ tenant, bodyRef }))),
  }
}

/** Samples and the sample's message are any of those that died of it: they are checked here, and not compared. */
function comparable({ sampleTaskIds, errorMessage, ...cause }: Cause, tasks: readonly Task[]): Cause {
  const dead = new Map(tasks.map(task => [task.taskId, task]))
  for (const taskId of sampleTaskIds)
    assert.equal(causeOf(dead.get(taskId)!), cause.causeId, 'a sample is of its cause')
  assert.equal(
    new Set(sampleTaskIds).size,
    Math.min(3, cause.count),
    'samples are distinct, and as many as there can be',
  )
  return {
    ...cause,
    sampleTaskIds: [],
    ...(errorMessage !== undefined && { errorMessage: fingerprintOf(errorMessage) }),
  }
}

/** What holds of a store at every moment, whatever has happened to it. */
export function checkPromises(snapshot: Snapshot): void {
  const { tasks, attempts, counters, lanes, causes, queues, leases, deadLetters, replays, bodies } = snapshot
  assert.deepEqual(counters.tasks, statusesOf(tasks), 'counters are what a count gives')
  for (const lane of lanes) {
    const { PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED } = statusesOf(
      tasks.filter(task => laneKey(task) === lane.lane),
    )
    const { pending, inFlight, succeeded, exhausted, cancelled } = lane
    assert.deepEqual(
      { pending, inFlight, succeeded, exhausted, cancelled },
      { pending: PENDING, inFlight: IN_FLIGHT, succeeded: SUCCEEDED, exhausted: EXHAUSTED, cancelled: CANCELLED },
    )
  }

  const underWay = tasks.flatMap(task =>
    task.state.status === 'IN_FLIGHT' ? [`${task.taskId} ${task.state.lease.token} ${task.state.lease.endsAt}`] : [],
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

  for (const [index, task] of tasks.entries()) {
    const rows = attempts[index]!.filter(({ generation }) => generation === task.progress.generation)
    const numbers = rows.map(({ attemptNumber }) => attemptNumber)
    const first = task.progress.attemptNumber - rows.length
    assert.deepEqual(
      numbers,
      rows.map((_, at) => first + at + 1),
      'attempts of a generation are those that were counted',
    )
  }

  const kept = new Set(bodies.map(body => body && `${body.tenant} ${body.bodyRef}`))
  for (const { tenant, request } of tasks)
    if (request.storedBody !== undefined)
      assert.ok(kept.has(`${tenant} ${request.storedBody.bodyRef}`), 'the body of a task is there as long as it is')

  const died = new Map<string, number>()
  for (const causeId of tasks.map(causeOf)) if (causeId !== undefined) died.set(causeId, (died.get(causeId) ?? 0) + 1)
  assert.deepEqual(new Map(causes.map(({ causeId, count }) => [causeId, count])), died, 'causes hold all dead letters')
  const dead = tasks.filter(({ state }) => state.status === 'EXHAUSTED').map(({ taskId }) => taskId)
  assert.deepEqual(deadLetters.map(({ taskId }) => taskId).toSorted(), dead.toSorted(), 'dead letters are all there')
  for (const { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled } of replays) {
    assert.ok(Math.min(waiting, underWay) >= 0 && waiting + underWay + sent <= moved && failed <= sent)
    assert.ok(succeeded + exhausted + cancelled <= moved - waiting - underWay, 'what waits has not ended')
  }
}

/** What holds between two moments of one store. */
export function checkProgress(before: Snapshot, after: Snapshot): void {
  const earlier = new Map(before.tasks.map(task => [task.taskId, task]))
  for (const task of after.tasks) {
    const was = earlier.get(task.taskId)
    if (was === undefined) continue
    assert.ok(task.version >= was.version, 'a version never goes back')
    if (task.version === was.version) assert.deepEqual(task, was, 'whatever changes gets another version')
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

function statusesOf(tasks: readonly Task[]): { [status in TaskStatus]: number } {
  const counts = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }
  for (const { state } of tasks) counts[state.status]++
  return counts
}

export function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

async function each<From, To>(from: readonly From[], read: (item: From) => Promise<To>): Promise<To[]> {
  const results: To[] = []
  for (const item of from) results.push(await read(item))
  return results
}

async function flat<From, To>(from: readonly From[], read: (item: From) => Promise<readonly To[]>): Promise<To[]> {
  return (await each(from, read)).flat()
}
