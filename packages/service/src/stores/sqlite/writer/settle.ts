import type { TaskStatus } from '../../../task/task.ts'
import { attemptEndOf, hasAttempt } from '../rows/attempt-rows.ts'
import type { SettlementRow } from '../rows/task-rows.ts'
import type { LeaseEntry } from '../tables/leases.ts'
import { tellEnd } from './tell-end.ts'
import type { Writer } from './writer.ts'

export type SettledWord = TaskStatus | 'lost'

/** Ends claims: attempt, next state, counters and cause in one write, if the lease is still the newest. */
export function settle(writer: Writer, settlements: readonly SettlementRow[]): SettledWord[] {
  return settlements.map(settlement => {
    const [taskId, token] = settlement
    const lease = writer.leases.find(taskId)
    if (lease === undefined) return settledBefore(writer, taskId, token)
    return lease.token === token ? settleOne(writer, settlement, lease) : 'lost'
  })
}

/** A settle whose answer was lost is sent again, and answered as before. */
function settledBefore({ tasks, log }: Writer, taskId: string, token: string): SettledWord {
  const seq = tasks.seqOf(taskId)
  const standing = seq === undefined ? undefined : log.standingOf(seq)
  return standing?.token === token ? standing.settledAs! : 'lost'
}

function settleOne(writer: Writer, settlement: SettlementRow, lease: LeaseEntry): TaskStatus {
  const { now: at, leases, lanes, waiting, log, dead, replays, whole } = writer
  const [, token, asked, givenReason, givenHeldBy, dueAt, queueName, progress, attempt] = settlement
  const { lane } = lanes.queueBy(lease.queueId)
  const { seq, state: previous } = lease
  const version = lease.version + 1
  const status = lease.cancelRequested && asked !== 'SUCCEEDED' ? 'CANCELLED' : asked
  const reason = status === 'EXHAUSTED' ? givenReason : null
  const heldBy = status === 'EXHAUSTED' ? givenHeldBy : null
  const queue = status === 'PENDING' ? lanes.queueOf(lane.key, queueName!) : undefined

  leases.remove(lease)
  if (reason !== null) {
    const lastAttempt = hasAttempt(attempt) ? attemptEndOf(attempt) : whole.attemptEnd(log.attemptIdOf(previous))
    dead.add({ seq, lane, reason, heldBy, lastAttempt, at })
  }
  const logId = log.append({
    seq,
    at,
    status,
    reason,
    heldBy,
    queueId: queue?.queueId ?? null,
    dueAt: queue === undefined && heldBy === null ? null : dueAt,
    version,
    token,
    settledAs: status,
    previous,
    progress,
    attempt,
  })
  if (queue !== undefined) {
    waiting.add(queue.queueId, [dueAt!, seq, logId, version])
    writer.hintOthers(lease, queue, dueAt!)
  }
  lanes.move(lane, 'IN_FLIGHT', status)
  if (hasAttempt(attempt)) lanes.countAttempt(lane, attempt[0] === 1)
  const [, attemptNumber, , , , , replayId] = progress
  const [ordinal, , , outcome] = attempt
  const firstOutcome = ordinal === 1 && outcome !== null ? outcome : undefined
  replays.countChange(replayId, { from: 'IN_FLIGHT', status, attemptNumber, firstOutcome })
  tellEnd(writer, { seq, status, reason, progress })
  return status
}
