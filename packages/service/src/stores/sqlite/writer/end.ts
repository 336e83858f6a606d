import type { GiveUpReason } from '@secondwind/resilience'
import type { HeldBack, TaskStatus } from '../../../task/task.ts'
import type { Standing } from '../rows/standing.ts'
import type { LaneEntry } from '../tables/lanes.ts'
import { tellEnd } from './tell-end.ts'
import type { Writer } from './writer.ts'

export interface End {
  readonly seq: number
  readonly lane: LaneEntry
  readonly standing: Standing
  readonly version: number
  readonly from: 'PENDING' | 'IN_FLIGHT'
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  readonly held?: HeldBack | undefined
}

/** Ends a task without an attempt: cancelled, or past its deadline. Whoever calls has taken it from where it stood. */
export function end(writer: Writer, { seq, lane, standing, version, from, status, reason, held }: End): void {
  const { now: at, log, lanes, dead, replays, whole } = writer
  const { progress, logId: previous } = standing
  const [, attemptNumber, , , , , replayId] = progress
  const heldBy = held?.by ?? null
  if (reason !== null) dead.add({ seq, lane, reason, heldBy, lastAttempt: whole.attemptEnd(standing.attemptId), at })
  const ended = { status, reason, heldBy, queueId: null, dueAt: held?.since ?? null } as const
  log.supersede(standing, { seq, at, ...ended, version, progress, previous })
  lanes.move(lane, from, status)
  replays.countChange(replayId, { from, status, attemptNumber })
  tellEnd(writer, { seq, status, reason, progress })
}
