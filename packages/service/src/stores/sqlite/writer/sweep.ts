import { laneOf } from '../../../task/lane.ts'
import type { TaskStatus } from '../../../task/task.ts'
import type { PageAsk, Sweep } from '../../task-store.ts'
import { blockOf } from '../rows/blocks.ts'
import { cut, type From, type Slice } from '../rows/slice.ts'
import type { Writer } from './writer.ts'

/**
 * Each kind of end has an instant of its own before which it is forgotten, and so a walk of its own through the log: a row
 * that is passed is never looked at again, for a task that lives on gets a newer one.
 */
const WALKS: { readonly [walk in 'finished' | 'dead']: readonly TaskStatus[] } = {
  finished: ['SUCCEEDED', 'CANCELLED'],
  dead: ['EXHAUSTED'],
}

/** Rows that one walk looks at in one call: a few milliseconds. */
const MOST_LOOKS = 1_000

/** Forgets what ended long ago. */
export function sweep(writer: Writer, { finishedBefore, deadBefore, keysBefore, limit }: Sweep): number {
  const { sweeps, spans, log } = writer
  const cursors = sweeps.cursors()
  const blocks = new Set<number>()
  let swept = 0

  const walk = (name: keyof typeof WALKS, endedBefore: number): void => {
    // A task stays as long as its key has its window: whoever asks again is answered with it.
    const before = Math.min(endedBefore, keysBefore)
    for (const [logId, seq, status] of sweeps.walk(cursors[name] ?? 0, { before, limit: MOST_LOOKS })) {
      if (swept === limit) return
      cursors[name] = logId
      if (!WALKS[name].includes(status) || log.standingOf(seq)?.logId !== logId) continue
      forgetTask(writer, seq, status)
      blocks.add(blockOf(seq))
      swept++
    }
  }
  walk('finished', finishedBefore)
  walk('dead', deadBefore)
  sweeps.keepCursors(cursors)
  for (const block of blocks) spans.dropIfEmpty(block)
  return swept
}

function forgetTask(
  { now, lanes, tasks, log, dead, bodies, callbacks }: Writer,
  seq: number,
  status: TaskStatus,
): void {
  const { taskId, lane, bodyRef, callbackUrl } = tasks.identityOf(seq)
  if (callbackUrl !== null) callbacks.outlive({ taskId, callbackUrl })
  lanes.move(lanes.find(lane)!, status, null)
  if (bodyRef !== null) bodies.use({ tenant: laneOf(lane).tenant, bodyRef }, -1, now)
  dead.remove(seq)
  log.remove(seq)
  tasks.remove(seq)
}

/** Forgets lanes without a task, with all that is kept of them. */
export function sweepLanes(
  { lanes, memories }: Writer,
  { from: [behind] = [0], limit }: From<PageAsk, [laneId: number]>,
): Slice<string, [number]> {
  const { items, next } = cut(lanes.walk(behind, limit + 1), limit, ({ laneId }): [number] => [laneId])
  const empty = items.filter(lane => !lanes.hasTasks(lane))
  for (const lane of empty) {
    lanes.remove(lane)
    memories.remove(lane.partition, lane.key)
  }
  return { items: empty.map(({ key }) => key), next }
}
