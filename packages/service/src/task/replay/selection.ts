/** Which dead letters a replay brings back, and which it leaves alone, and why. */
import type { GiveUpReason } from '@secondwind/resilience'
import { become, INCLUDABLE, type ReplayDocument, type Skipped, type SkippedBecause } from './replay.ts'

/** A dead letter that fits the filter. */
export interface Candidate {
  readonly taskId: string
  readonly destination: string
  readonly reason: GiveUpReason
  /** Whether the version of the policy that it was accepted with is there. */
  readonly hasPolicy: boolean
}

export function skippedBecause(
  { include }: Pick<ReplayDocument, 'include'>,
  { reason, hasPolicy }: Pick<Candidate, 'reason' | 'hasPolicy'>,
): SkippedBecause | undefined {
  const kind = INCLUDABLE.find(each => each === reason)
  if (kind !== undefined && !include.includes(kind)) return kind
  if (reason === 'body-missing') return 'body-missing'
  return hasPolicy ? undefined : 'policy-missing'
}

/** One step of counting: what a page held, and where the next one begins. */
export interface CountedPage {
  readonly candidates: readonly Candidate[]
  /** Asked for by their ids, and not there to be replayed. */
  readonly gone: readonly string[]
  readonly nextCursor?: string
}

/** So many are enough to see what is meant. */
const MOST_SAMPLES = 3
const MOST_DESTINATIONS = 10

export function countPage(replay: ReplayDocument, page: CountedPage, now: number): ReplayDocument {
  let { selected, skipped } = replay
  const destinations = new Set(replay.destinations)
  for (const candidate of page.candidates) {
    const because = skippedBecause(replay, candidate)
    if (because !== undefined) {
      skipped = withSkipped(skipped, because, candidate.taskId)
      continue
    }
    selected++
    destinations.add(candidate.destination)
  }
  for (const taskId of page.gone) skipped = withSkipped(skipped, 'no-longer-dead', taskId)
  const { cursor: _, ...rest } = replay
  const counted = {
    ...rest,
    selected,
    skipped,
    destinations: [...destinations].slice(0, MOST_DESTINATIONS),
    hasMoreDestinations: replay.hasMoreDestinations || destinations.size > MOST_DESTINATIONS,
  }
  if (page.nextCursor !== undefined) return { ...counted, cursor: page.nextCursor }
  return become(counted, 'PLANNED', now)
}

function withSkipped(skipped: readonly Skipped[], because: SkippedBecause, taskId: string): readonly Skipped[] {
  const present = skipped.find(each => each.because === because) ?? { because, count: 0, sampleTaskIds: [] }
  const sampleTaskIds = [...present.sampleTaskIds, taskId].slice(0, MOST_SAMPLES)
  return [...skipped.filter(each => each !== present), { because, count: present.count + 1, sampleTaskIds }]
}

/** Selected when it was planned, and brought back or gone by somebody else's hand before its turn. */
export function withGone(replay: ReplayDocument, moved: number): ReplayDocument {
  const gone = replay.selected - moved
  if (gone <= 0) return replay
  const before = replay.skipped.find(({ because }) => because === 'no-longer-dead')
  const skipped = { because: 'no-longer-dead', count: (before?.count ?? 0) + gone, sampleTaskIds: [] } as const
  return { ...replay, skipped: [...replay.skipped.filter(each => each !== before), { ...before, ...skipped }] }
}
