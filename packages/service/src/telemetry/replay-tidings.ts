import type { ReplayStatus } from '@secondwind/client'
import type { StoredReplay } from '../replays/stored-replay.ts'
import type { ReplayCounts } from '../task/replay/counts.ts'
import { leftOf } from '../task/replay/step.ts'
import type { EventStream, Told } from './stream/event-stream.ts'

/** Progress is told so often, a change of status at once. */
const EVERY_MS = 1_000
/** Replays whose last telling is remembered: more are not under way. */
const MOST_KNOWN = 1_000

/** Tells how replays go on. */
export class ReplayTidings {
  readonly #stream: Pick<EventStream, 'tell'>
  readonly #now: () => number
  readonly #told = new Map<string, { readonly status: ReplayStatus; readonly at: number }>()

  constructor(stream: Pick<EventStream, 'tell'>, now: () => number) {
    this.#stream = stream
    this.#now = now
  }

  changed(stored: StoredReplay, counts: ReplayCounts): void {
    const { replayId, replay } = stored
    const at = this.#now()
    const last = this.#told.get(replayId)
    if (last?.status === replay.status && at - last.at < EVERY_MS) return
    this.#told.delete(replayId)
    this.#told.set(replayId, { status: replay.status, at })
    if (this.#told.size > MOST_KNOWN) this.#told.delete(this.#told.keys().next().value!)
    this.#stream.tell(replayTold(stored, counts))
  }
}

export function replayTold({ replayId, tenant, replay }: StoredReplay, counts: Omit<ReplayCounts, 'recent'>): Told {
  const { status, statusSince, ratePerSecond, selected, destinations, hasMoreDestinations } = replay
  const { waitsFor, waitsForRoom, stopped, endedFor } = replay
  const { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled } = counts
  const [destination, ...others] = destinations
  return {
    type: 'replay',
    tenant,
    ...(destination !== undefined && others.length === 0 && !hasMoreDestinations && { destination }),
    data: {
      replayId,
      status,
      statusSince,
      ratePerSecond,
      selected,
      counts: { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled, left: leftOf(replay, counts) },
      ...(waitsFor !== undefined && { waitsFor }),
      ...(waitsForRoom && { waitsForRoom }),
      ...(stopped !== undefined && { stopped }),
      ...(endedFor !== undefined && { endedFor }),
    },
  }
}
