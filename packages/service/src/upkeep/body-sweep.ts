import type { Clock } from '@secondwind/resilience'
import type { BodyStore } from '../bodies/body-store.ts'
import { nameAt } from '../bodies/location.ts'
import { isFarAhead } from '../stores/store-clock.ts'
import type { Store } from '../stores/store.ts'

/** Bytes get their row at once, or their process died: after a day no row is coming. */
const ROWLESS_MS = 86_400_000

/** So small that deliveries do not notice it. */
const STEP = 200
const PAUSE_MS = 600_000

export interface BodySweep {
  readonly store: Pick<Store, 'health' | 'bodies' | 'sweepBodies'>
  readonly bodies: Pick<BodyStore, 'putBefore' | 'remove'>
  /** The wall clock, by which the age of bytes is known. */
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProblem: (error: unknown) => void
}

/** Removes bodies that no task needs, every ten minutes until the signal. The next sweep tries again what failed. */
export async function keepBodiesTidy(sweep: BodySweep): Promise<void> {
  const { clock, signal, onProblem } = sweep
  // A machine that starts with a wrong clock is put right within minutes.
  await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
  while (!signal.aborted) {
    try {
      await sweepBodies(sweep)
    } catch (error) {
      onProblem(error)
    }
    await clock.sleep(PAUSE_MS, signal).catch(() => undefined)
  }
}

/** One sweep. A clock that is far ahead, or a file that is damaged or replaced, would make it remove bodies that tasks need. */
export async function sweepBodies(sweep: Omit<BodySweep, 'onProblem'>): Promise<void> {
  const { now, clockSkewMs, lasting } = await sweep.store.health()
  if (lasting !== undefined || isFarAhead(clockSkewMs)) return
  while (!sweep.signal.aborted && (await sweepUnneeded(sweep, now)));
  await sweepRowless(sweep)
}

/** First the row and then the bytes, so that each row has its bytes. Answers whether there may be more. */
async function sweepUnneeded({ store, bodies }: Pick<BodySweep, 'store' | 'bodies'>, now: number): Promise<boolean> {
  const { locations } = await store.sweepBodies({ neededBefore: now, limit: STEP })
  for (const location of locations) await bodies.remove(location)
  return locations.length === STEP
}

/** Bytes whose row names others, or is gone: a process died between the two. */
async function sweepRowless({ store, bodies, clock, signal }: Omit<BodySweep, 'onProblem'>): Promise<void> {
  for await (const locations of inSteps(bodies.putBefore(clock.now() - ROWLESS_MS))) {
    if (signal.aborted) return
    const records = await store.bodies(locations.flatMap(location => nameAt(location) ?? []))
    const named = new Set(records.map(({ location }) => location))
    for (const location of locations) if (!named.has(location)) await bodies.remove(location)
  }
}

async function* inSteps(locations: AsyncIterable<string>): AsyncIterable<readonly string[]> {
  let step: string[] = []
  for await (const location of locations) {
    if (step.push(location) < STEP) continue
    yield step
    step = []
  }
  if (step.length > 0) yield step
}
