import type { Callback } from '../../../task/callback.ts'
import { cursorOf } from '../../cursor.ts'
import type { Change, Changed, EndName, EndsAsk, Page, Replay } from '../../store.ts'
import { comparePlaces } from './page.test-kit.ts'
import type { Entry, World } from './world.test-kit.ts'

/** Finds the task, compares its version, changes it and writes the line. */
export function operate(
  world: World,
  taskId: string,
  change: Change,
  now: number,
  rule: (entry: Entry, now: number) => Changed['kind'],
): Changed {
  const entry = world.find(taskId)
  if (entry === undefined) return { kind: 'unknown' }
  const { task } = entry
  if (change.ifVersion !== undefined && change.ifVersion !== task.version) return { kind: 'conflict', task }
  const kind = rule(entry, now)
  if (entry.task !== task) world.note(change.audit, now)
  return kind === 'unknown' ? { kind } : { kind, task: entry.task }
}

export function cancel(world: World, entry: Entry, now: number): 'changed' | 'unchanged' {
  const { state } = entry.task
  switch (state.status) {
    case 'PENDING':
      world.write(entry, { state: { status: 'CANCELLED', endedAt: now } })
      return 'changed'
    case 'IN_FLIGHT':
      if (!state.lease.cancelRequested)
        world.write(entry, { state: { ...state, lease: { ...state.lease, cancelRequested: true } } })
      return 'changed'
    case 'CANCELLED':
      return 'changed'
    case 'SUCCEEDED':
    case 'EXHAUSTED':
      return 'unchanged'
  }
}

export function attemptNow(world: World, entry: Entry, now: number): 'changed' | 'unchanged' {
  const { state } = entry.task
  if (state.status !== 'PENDING') return 'unchanged'
  world.write(entry, { state: { ...state, nextAttemptAt: now, queue: { ...state.queue, rank: 'urgent' } } })
  world.hint(entry)
  return 'changed'
}

export function replay(world: World, entry: Entry, ask: Replay, now: number): 'changed' | 'unchanged' {
  const { state, policyId, progress } = entry.task
  if (state.status !== 'EXHAUSTED' || progress.generation !== ask.generation) return 'unchanged'
  const queue = { policyId, kind: 'first', rank: 'low' } as const
  const nextAttemptAt = Math.max(now, ask.dueAt ?? now)
  world.write(entry, { state: { status: 'PENDING', nextAttemptAt, queue }, progress: ask.progress })
  world.hint(entry)
  return 'changed'
}

const ENDS = cursorOf('ends', 'number', 'string')

/** Partition by partition, lane by lane: an end is kept in the partition of its task. */
export function endsToTell({ ends }: World, { partitions, perLane, limit, cursor }: EndsAsk): Page<Callback> {
  const last = cursor === undefined ? undefined : ENDS.read(cursor)
  const kept = ends.filter(
    ({ partition, lane }) =>
      partitions.includes(partition) && (last === undefined || comparePlaces([partition, lane], last) > 0),
  )
  const lanes = new Map(
    kept.map(({ partition, lane }): [string, [number, string]] => [`${partition} ${lane}`, [partition, lane]]),
  )
  const inOrder = [...lanes.values()].toSorted(comparePlaces)
  const oldest = inOrder.flatMap(place =>
    kept.filter(({ partition, lane }) => comparePlaces([partition, lane], place) === 0).slice(0, perLane),
  )
  const shown = oldest.slice(0, limit)
  const end = shown.length === limit ? shown.at(-1) : undefined
  return {
    items: shown.map(each => each.end),
    ...(end !== undefined && { nextCursor: ENDS.write([end.partition, end.lane]) }),
  }
}

export function endsTold({ ends }: World, told: readonly EndName[]): void {
  for (const { taskId, generation } of told) {
    const at = ends.findIndex(({ end }) => end.taskId === taskId && end.generation === generation)
    if (at >= 0) ends.splice(at, 1)
  }
}
