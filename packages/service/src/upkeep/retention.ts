import { systemClock, type Clock } from '@secondwind/resilience'
import { isFarAhead } from '../stores/store-clock.ts'
import type { Sweep, TaskStore } from '../stores/task-store.ts'
import { forgetEndedControls } from './ended-controls.ts'

/** How long what has ended is kept. */
export interface Retention {
  readonly finishedMs: number
  readonly deadMs: number
  /** How long after its end a task's key still finds it. */
  readonly keyMs: number
  /** Lines of the audit. */
  readonly auditMs: number
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: Retention = {
  finishedMs: 7 * DAY_MS, // a week: long enough to answer "did it arrive?"
  deadMs: 30 * DAY_MS, // a month: somebody still has to decide what becomes of them
  keyMs: DAY_MS, // a caller that repeats its request a day later means another one
  auditMs: 365 * DAY_MS, // a year: what an auditor asks for
}

/** Small enough not to be felt by those who claim meanwhile. */
const STEP = 500
const PAUSE_MS = 60_000

/** A machine that starts with a wrong clock is put right within minutes; what it forgot before would be gone. */
const FIRST_PAUSE_MS = 600_000

export function sweepAt(now: number, retention: Retention): Sweep {
  return {
    finishedBefore: now - retention.finishedMs,
    deadBefore: now - retention.deadMs,
    keysBefore: now - retention.keyMs,
    limit: STEP,
  }
}

export interface Upkeep {
  readonly store: TaskStore
  readonly retention?: Retention
  readonly clock?: Clock
  readonly signal: AbortSignal
  readonly onProblem: (error: unknown) => void
}

/**
 * Forgets what ended long ago, a little at a time, until the signal. A failed step is tried again after the pause. Nothing is
 * forgotten by a clock that is far ahead: it would all be older than it is.
 */
export async function keepTidy(upkeep: Upkeep): Promise<void> {
  const { store, retention = DEFAULT_RETENTION, clock = systemClock, signal, onProblem } = upkeep
  const lanes: LaneSweep = {}
  await clock.sleep(FIRST_PAUSE_MS, signal).catch(() => undefined)
  while (!signal.aborted) {
    const wasFull = await sweepOnce(store, retention, lanes, onProblem)
    // The event loop has its turn between two full steps; nobody waits for this work.
    await clock.sleep(wasFull ? 1 : PAUSE_MS, signal).catch(() => undefined)
  }
}

/** Where the sweep of all lanes has come to; it begins anew when it is through. */
interface LaneSweep {
  cursor?: string
}

async function sweepOnce(
  store: TaskStore,
  retention: Retention,
  lanes: LaneSweep,
  onProblem: (error: unknown) => void,
): Promise<boolean> {
  try {
    const { now, clockSkewMs } = await store.health()
    if (isFarAhead(clockSkewMs)) return false
    const { swept } = await store.sweep(sweepAt(now, retention))
    const audit = await store.sweepAudit({ before: now - retention.auditMs, limit: STEP })
    await forgetEndedControls(store, now)
    await forgetEmptyLanes(store, lanes)
    return swept >= STEP || audit.swept >= STEP
  } catch (error) {
    onProblem(error)
    return false
  }
}

async function forgetEmptyLanes(store: TaskStore, sweep: LaneSweep): Promise<void> {
  const { nextCursor } = await store.sweepLanes({ limit: STEP, ...sweep })
  if (nextCursor === undefined) delete sweep.cursor
  else sweep.cursor = nextCursor
}
