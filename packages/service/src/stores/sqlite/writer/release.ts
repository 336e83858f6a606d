import type { HeldLease } from '../../task-store.ts'
import { end } from './end.ts'
import type { Writer } from './writer.ts'

/** Puts back what was never sent, as it was and where it stood; what somebody cancelled meanwhile ends instead. */
export function release(writer: Writer, held: readonly HeldLease[]): ('released' | 'lost')[] {
  const { leases, lanes, waiting, log, replays } = writer
  return held.map(({ taskId, token }) => {
    const lease = leases.find(taskId)
    if (lease?.token !== token) return 'lost'
    const { seq, queueId, dueAt, state } = lease
    const queue = lanes.queueBy(queueId)
    const { lane } = queue
    const version = lease.version + 1
    leases.remove(lease)
    if (lease.cancelRequested) {
      const standing = log.standingOf(seq)!
      end(writer, { seq, lane, standing, version, from: 'IN_FLIGHT', status: 'CANCELLED', reason: null })
    } else {
      waiting.add(queueId, [dueAt, seq, state, version])
      lanes.move(lane, 'IN_FLIGHT', 'PENDING')
      if (state !== 0) {
        const [, attemptNumber, , , , , replayId] = log.progressOf(state)
        replays.countChange(replayId, { from: 'IN_FLIGHT', status: 'PENDING', attemptNumber })
      }
      writer.hintOthers(lease, queue, dueAt)
    }
    return 'released'
  })
}
