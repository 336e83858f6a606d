import type { Fleet } from '../stores/store.ts'

/** Instances say that they are alive so often. */
export const BEAT_MS = 1_000

/** Fewer say that somebody started, not that it will stay. */
const BEATS_TO_LIVE = 3

const SILENCE_OF_THE_DEAD_MS = 6_000

/** What one instance knows of another, from its own looks alone: no two machines' clocks are compared. */
interface Watched {
  count: number
  /** Looks at which it had beaten again. */
  beats: number
  silentMs: number
}

export type Watch = Map<string, Watched>

/**
 * Another look at everybody's beats. `passedMs` is the time in which the watcher itself was well: silence that it could
 * not have heard does not count.
 */
export function look(watch: Watch, { beats, stewards }: Pick<Fleet, 'beats' | 'stewards'>, passedMs: number): void {
  const counts = new Map(beats.map(({ instance, count }) => [instance, count]))
  // A steward without a beat has been gone for long, or has not yet begun: it is given the same time.
  for (const { instance } of stewards) if (!counts.has(instance)) counts.set(instance, 0)
  for (const [instance, count] of counts) {
    const known = watch.get(instance)
    if (known === undefined) watch.set(instance, { count, beats: 0, silentMs: 0 })
    else if (known.count === count) known.silentMs += passedMs
    else watch.set(instance, { count, beats: isDead(watch, instance) ? 1 : known.beats + 1, silentMs: 0 })
  }
  for (const instance of watch.keys()) if (!counts.has(instance)) watch.delete(instance)
}

export function isLive(watch: Watch, instance: string): boolean {
  const known = watch.get(instance)
  return known !== undefined && known.beats >= BEATS_TO_LIVE && known.silentMs < SILENCE_OF_THE_DEAD_MS
}

/** Not the opposite of live: of who has just been seen for the first time nothing is known. */
export function isDead(watch: Watch, instance: string): boolean {
  return (watch.get(instance)?.silentMs ?? 0) >= SILENCE_OF_THE_DEAD_MS
}

/**
 * Who should serve a partition: whoever's name goes with it best, so that few move when one comes or goes. Rendezvous
 * hashing (Thaler, Ravishankar 1998).
 */
export function stewardFor(partition: number, instances: readonly string[]): string {
  let best = instances[0]!
  let bestAffinity = -1
  for (const instance of instances) {
    const affinity = affinityOf(instance, partition)
    if (affinity > bestAffinity || (affinity === bestAffinity && instance < best)) {
      best = instance
      bestAffinity = affinity
    }
  }
  return best
}

/** FNV-1a, and the finish of MurmurHash3: names that differ in a digit share no partitions. */
function affinityOf(instance: string, partition: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(partition + 1, 0x9e3779b1)
  for (let at = 0; at < instance.length; at++) hash = Math.imul(hash ^ instance.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
