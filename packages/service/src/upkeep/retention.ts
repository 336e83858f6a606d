import { systemClock, type Clock } from '@secondwind/resilience'
import { isFarAhead } from '../stores/store-clock.ts'
import type { Store, Sweep } from '../stores/store.ts'
import { forgetEndedControls } from './ended-controls.ts'

/** How long the service keeps each of these after its end. */
export interface Retention {
  /** Tasks that succeeded or were cancelled. */
  readonly finishedMs: number
  readonly deadMs: number
  /** A task stays at least so long, so that its key finds it. */
  readonly keyMs: number
  /** Lines of the audit. */
  readonly auditMs: number
}

const DAY_MS = 86_400_000

export const DEFAULT_RETENTION: Retention = {
  finishedMs: 7 * DAY_MS, // a week: long enough to answer "did it arrive?"
  deadMs: 30 * DAY_MS, // a month: somebody still has to decide what becomes of them
  keyMs: DAY_MS, // a caller may repeat its request for a day, however short the others are
  auditMs: 365 * DAY_MS, // a year: what an auditor asks for
}

/** Claims that come meanwhile do not notice so little work. */
const STEP = 500
const PAUSE_MS = 60_000

/** A machine that starts with a wrong clock is put right within minutes. What the service forgot before would be gone. */
const FIRST_PAUSE_MS = 600_000

export function sweepAt(now: number, { finishedMs, deadMs, keyMs, auditMs }: Retention): Sweep {
  return {
    finishedBefore: now - Math.max(finishedMs, keyMs),
    deadBefore: now - Math.max(deadMs, keyMs),
    auditBefore: now - auditMs,
    limit: STEP,
  }
}

export interface Upkeep {
  readonly store: Pick<Store, 'health' | 'sweep' | 'records' | 'write'>
  readonly retention?: Retention
  readonly clock?: Clock
  readonly signal: AbortSignal
  readonly onProblem: (error: unknown) => void
}

/**
 * Forgets tasks, audit lines and empty lanes, a little at a time, until the signal. A failed step is tried again after the
 * pause. Nothing is forgotten by a clock that is far ahead: everything would seem older than it is.
 */
export async function keepTidy(upkeep: Upkeep): Promise<void> {
  const { clock = systemClock, signal } = upkeep
  await clock.sleep(FIRST_PAUSE_MS, signal).catch(() => undefined)
  while (!signal.aborted) {
    const wasFull = await sweepOnce(upkeep)
    // The event loop has its turn between two full steps. Nothing waits for this work.
    await clock.sleep(wasFull ? 1 : PAUSE_MS, signal).catch(() => undefined)
  }
}

async function sweepOnce({ store, retention = DEFAULT_RETENTION, onProblem }: Upkeep): Promise<boolean> {
  try {
    const { now, clockSkewMs } = await store.health()
    if (isFarAhead(clockSkewMs)) return false
    const { swept } = await store.sweep(sweepAt(now, retention))
    await forgetEndedControls(store, now)
    return swept >= STEP
  } catch (error) {
    onProblem(error)
    return false
  }
}
