import type { Feed } from './feed.ts'
import { frameOf, passes, type EventFilter, type Gap } from './stream-event.ts'

/** What a listener is sent next, and the number up to which it has then heard. */
export interface Excerpt {
  readonly text: string
  readonly cursor: number
}

/** The events after `from`, up to and with `to`. */
export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * What came in a span, as far as it fits; the rest is for the next time. What is no longer kept is said to be missing. A
 * text may end one frame later than `mostBytes`: an event is sent whole.
 */
export function excerptOf(feed: Feed, filter: EventFilter, { from, to }: Span, mostBytes: number): Excerpt {
  const { forgotten } = feed
  let text = from < forgotten ? gapFrame(feed, forgotten, { because: 'too-old', missed: forgotten - from }) : ''
  let number = Math.max(from, forgotten)
  while (number < to && text.length < mostBytes)
    if (passes(filter, feed.eventAt(++number))) text += feed.frameAt(number)
  return { text, cursor: number }
}

/** Leaves out what has not been heard: news that is old by the time it is read helps nobody. */
export function skipped(feed: Feed, filter: EventFilter, { from, to }: Span): Excerpt {
  let missed = 0
  for (let number = from + 1; number <= to; number++) if (passes(filter, feed.eventAt(number))) missed++
  return { text: missed === 0 ? '' : gapFrame(feed, to, { because: 'too-many', missed }), cursor: to }
}

export function gapFrame(feed: Feed, number: number, gap: Gap): string {
  return frameOf('gap', feed.idOf(number), gap)
}
