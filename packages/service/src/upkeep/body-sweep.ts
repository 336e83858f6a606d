import type { Clock } from '@secondwind/resilience'
import type { BodyStore } from '../bodies/body-store.ts'
import { isFarAhead } from '../stores/store-clock.ts'
import type { TaskStore } from '../stores/task-store.ts'

/** Bodies that no task needs are kept so long: whoever uploads one has a day to use it. */
const UNUSED_MS = 86_400_000

/** Small enough not to be felt by those who send meanwhile. */
const STEP = 200
const PAUSE_MS = 600_000

export interface BodySweep {
  readonly store: Pick<TaskStore, 'health' | 'sweepBodies' | 'keptLocations'>
  readonly bodies: BodyStore
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProblem: (error: unknown) => void
}

/** Removes bodies that nobody needs, every ten minutes until the signal; what fails is tried again the next time. */
export async function keepBodiesTidy(sweep: BodySweep): Promise<void> {
  const { store, clock, signal, onProblem } = sweep
  // A machine that starts with a wrong clock is put right within minutes.
  await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
  while (!signal.aborted) {
    try {
      const { now, clockSkewMs } = await store.health()
      if (!isFarAhead(clockSkewMs)) await sweepAll(sweep, now)
    } catch (error) {
      onProblem(error)
    }
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
  }
}

async function sweepAll(sweep: BodySweep, now: number): Promise<void> {
  while (!sweep.signal.aborted && (await sweepUnused(sweep, now)));
  let cursor = await sweepOrphans(sweep)
  while (!sweep.signal.aborted && cursor !== undefined) cursor = await sweepOrphans(sweep, cursor)
}

/** First the row and then the bytes: what is known is there. Whether there may be more. */
async function sweepUnused({ store, bodies }: BodySweep, now: number): Promise<boolean> {
  const { locations } = await store.sweepBodies({ unusedBefore: now - UNUSED_MS, limit: STEP })
  for (const location of locations) await bodies.remove(location)
  return locations.length === STEP
}

/**
 * Bytes that no row knows of: a crash came between the two. They have been there for a day, so that none that arrives
 * now is among them.
 */
async function sweepOrphans({ store, bodies, clock }: BodySweep, cursor?: string): Promise<string | undefined> {
  const putBefore = clock.now() - UNUSED_MS
  const { items, nextCursor } = await bodies.list({ putBefore, limit: STEP, ...(cursor !== undefined && { cursor }) })
  const kept = new Set(items.length === 0 ? [] : await store.keptLocations(items))
  for (const location of items) if (!kept.has(location)) await bodies.remove(location)
  return nextCursor
}
