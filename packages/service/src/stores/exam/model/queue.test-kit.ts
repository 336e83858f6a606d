import assert from 'node:assert/strict'
import { queueKey } from '../../../task/lane.ts'
import { claimedTask } from '../../../task/claimed.ts'
import { heldAtDeadline } from '../../../task/held.ts'
import type { NewTask } from '../../../task/accept.ts'
import type { Next, Settlement } from '../../../task/settle.ts'
import type { AttemptEnd, AttemptRow, ClaimedTask, Queue, TaskState } from '../../../task/task.ts'
import { cursorOf } from '../../cursor.ts'
import {
  MOST_RECALLED,
  type Ask,
  type Claim,
  type ClaimAnswer,
  type Enqueued,
  type Expire,
  type LeaseHead,
  type LeasesPage,
  type Page,
  type PartitionsPage,
  type PutBack,
  type QueueHead,
  type Recall,
  type Settled,
} from '../../store.ts'
import { comparePlaces, pageOf } from './page.test-kit.ts'
import type { Entry, World } from './world.test-kit.ts'

export function enqueue(world: World, task: NewTask): Enqueued {
  // By id too: a batch whose answer was lost is sent again as it was.
  const present = findByKey(world, task) ?? world.find(task.taskId)
  if (present !== undefined)
    return isSameRequest(present, task)
      ? { kind: 'existing', task: present.task }
      : { kind: 'conflict', taskId: present.task.taskId }
  world.add(task)
  return { kind: 'created' }
}

/** A task without a key of its own has its id for one. */
function findByKey({ entries }: World, { tenant, idempotencyKey }: NewTask): Entry | undefined {
  return entries.find(({ task }) => task.tenant === tenant && task.idempotencyKey === idempotencyKey)
}

function isSameRequest({ task, requestHash }: Entry, asked: NewTask): boolean {
  return (
    task.tenant === asked.tenant && task.idempotencyKey === asked.idempotencyKey && requestHash === asked.requestHash
  )
}

const QUEUES = cursorOf('queues', 'number', 'string', 'string')

export function queues({ entries }: World, { partitions, ...page }: PartitionsPage): Page<QueueHead> {
  const heads = new Map<string, QueueHead & { readonly partition: number }>()
  for (const { lane, partition, task } of entries) {
    if (task.state.status !== 'PENDING' || !partitions.includes(partition)) continue
    const queue = queueKey(task.state.queue)
    const name = `${lane}\n${queue}`
    const dueAt = Math.min(task.state.nextAttemptAt, heads.get(name)?.dueAt ?? Infinity)
    heads.set(name, { partition, lane, queue, dueAt })
  }
  const found = pageOf([...heads.values()], page, {
    cursors: QUEUES,
    placeOf: ({ partition, lane, queue }): [number, string, string] => [partition, lane, queue],
  })
  return { ...found, items: found.items.map(({ lane, queue, dueAt }) => ({ lane, queue, dueAt })) }
}

const LEASES = cursorOf('leases', 'number', 'number')

export function leases(
  world: World,
  { partitions, token, haveEnded, ...page }: LeasesPage,
  now: number,
): Page<LeaseHead> {
  const held = world.entries.flatMap(({ lane, partition, number, task: { taskId, state } }) =>
    state.status === 'IN_FLIGHT' ? [{ taskId, lane, partition, number, ...state.lease }] : [],
  )
  const wanted = held.filter(
    lease =>
      partitions.includes(lease.partition) &&
      (token === undefined || lease.token === token) &&
      (haveEnded === undefined || lease.endsAt <= now),
  )
  const found = pageOf(wanted, page, {
    cursors: LEASES,
    placeOf: ({ endsAt, number }): [number, number] => [endsAt, number],
  })
  return { ...found, items: found.items.map(({ taskId, lane, token, endsAt }) => ({ taskId, lane, token, endsAt })) }
}

export function claim(world: World, { partition, steward, token, asks }: Claim, now: number): ClaimAnswer {
  if (!world.isSteward(partition, steward)) return { kind: 'refused' }
  const tasks = asks.flatMap(ask => {
    const due = waitingIn(world, partition, ask).filter(({ dueAt }) => dueAt <= now)
    const underWay = world.entries.filter(({ lane, task }) => lane === ask.lane && task.state.status === 'IN_FLIGHT')
    const room = Math.max(0, ask.limit - underWay.length)
    const taken = (ask.end === 'back' ? due.toReversed() : due).slice(0, Math.min(ask.count, room))
    return taken.map(waiting => lease(world, waiting, { steward, token, now }))
  })
  const heads = asks.map(({ lane, queue }) => {
    const [first] = waitingIn(world, partition, { lane, queue })
    return { lane, queue, dueAt: first?.dueAt ?? null }
  })
  return { kind: 'claimed', tasks, heads }
}

interface Waiting {
  readonly entry: Entry
  readonly dueAt: number
  readonly queue: Queue
}

/** The waiting tasks of a queue: by due instant, then by arrival. A steward of one partition has no say in another. */
function waitingIn({ entries }: World, partition: number, ask: Pick<Ask, 'lane' | 'queue'>): Waiting[] {
  return entries
    .filter(entry => entry.partition === partition && entry.lane === ask.lane)
    .flatMap(entry => {
      const { state } = entry.task
      if (state.status !== 'PENDING' || queueKey(state.queue) !== ask.queue) return []
      return [{ entry, dueAt: state.nextAttemptAt, queue: state.queue }]
    })
    .toSorted((one, other) => comparePlaces(placeOf(one), placeOf(other)))
}

function placeOf({ dueAt, entry }: Waiting): [number, number] {
  return [dueAt, entry.number]
}

function lease(
  world: World,
  { entry, dueAt, queue }: Waiting,
  { steward, token, now }: { readonly steward: string; readonly token: string; readonly now: number },
): ClaimedTask {
  entry.claimedBy = steward
  const lease = { token, endsAt: now + entry.task.leaseMs, cancelRequested: false }
  const claimed = claimedTask(
    world.write(entry, { state: { status: 'IN_FLIGHT', lease, claimed: { at: now, dueAt, queue } } }),
  )
  assert(claimed !== undefined, 'it was claimed just now')
  return claimed
}

export function settle(world: World, end: Settlement | PutBack, now: number): Settled {
  const entry = world.find(end.taskId)
  if (entry === undefined) return { kind: 'lost' }
  const { state, progress } = entry.task
  if (state.status !== 'IN_FLIGHT') return answerAgain(entry, end.token)
  if (state.lease.token !== end.token) return { kind: 'lost' }

  assert(state.claimed !== undefined, 'every claim notes when and where it found the task')
  const { dueAt, queue } = state.claimed
  const isPutBack = end.next === 'put-back'
  const next: Next = isPutBack ? { status: 'PENDING', dueAt, queue, progress } : end.next
  const attempt = isPutBack ? undefined : end.attempt
  const isCancelled = state.lease.cancelRequested && next.status !== 'SUCCEEDED'
  const after: TaskState = isCancelled ? { status: 'CANCELLED', endedAt: now } : stateOf(next, now)
  if (attempt !== undefined) world.addAttempt(entry, attempt)
  world.write(entry, {
    state: after,
    progress: next.progress,
    ...(attempt !== undefined && { lastAttempt: endOf(attempt) }),
  })
  entry.settled = { token: end.token, status: after.status }
  // A steward knows its own writes.
  if (entry.claimedBy === undefined || !world.isSteward(entry.partition, entry.claimedBy)) world.hint(entry)
  return { kind: 'settled', status: after.status }
}

/** A settle whose answer was lost is sent again, and gets the same answer. */
function answerAgain({ settled }: Entry, token: string): Settled {
  return settled?.token === token ? { kind: 'settled', status: settled.status } : { kind: 'lost' }
}

function stateOf(next: Next, endedAt: number): TaskState {
  switch (next.status) {
    case 'PENDING':
      return { status: 'PENDING', nextAttemptAt: next.dueAt, queue: next.queue }
    case 'SUCCEEDED':
      return { status: 'SUCCEEDED', endedAt }
    case 'EXHAUSTED': {
      const { reason, held } = next
      return { status: 'EXHAUSTED', endedAt, reason, ...(held !== undefined && { held }) }
    }
  }
}

function endOf({ outcome, responseStatus, errorCode, errorMessage }: AttemptRow): AttemptEnd {
  return {
    outcome,
    ...(responseStatus !== undefined && { responseStatus }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { errorMessage }),
  }
}

const EXPIRE = cursorOf('expire', 'number', 'number')

export function expire(
  world: World,
  { partition, steward, lane, queue, shut = [], ...page }: Expire,
  now: number,
): { readonly expired: readonly string[]; readonly nextCursor?: string } {
  if (!world.isSteward(partition, steward)) return { expired: [] }
  const { items, ...rest } = pageOf(waitingIn(world, partition, { lane, queue }), page, { cursors: EXPIRE, placeOf })
  const expired = items.filter(({ entry }) => entry.task.progress.expiresAt <= now)
  for (const { entry, dueAt } of expired) {
    const held = heldAtDeadline(shut, { dueAt, expiresAt: entry.task.progress.expiresAt })
    const state = { status: 'EXHAUSTED', endedAt: now, reason: 'deadline' } as const
    world.write(entry, { state: { ...state, ...(held !== undefined && { held }) } })
  }
  return { expired: expired.map(({ entry }) => entry.task.taskId), ...rest }
}

export function recall(world: World, { partition, steward, tasks }: Recall): string[] {
  if (tasks.length > MOST_RECALLED)
    throw new Error(`a recall names ${tasks.length} tasks, and at most ${MOST_RECALLED}`)
  if (!world.isSteward(partition, steward)) return []
  const recalled = tasks.filter(({ taskId, dueAt }) => {
    const entry = world.find(taskId)
    if (entry?.partition !== partition) return false
    const { state } = entry.task
    if (state.status !== 'PENDING' || state.nextAttemptAt <= dueAt) return false
    world.write(entry, { state: { ...state, nextAttemptAt: dueAt } })
    return true
  })
  return recalled.map(({ taskId }) => taskId)
}
