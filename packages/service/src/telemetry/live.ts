import type { DispatchEvents } from './events.ts'
import type { SeriesBook } from './series/series-book.ts'
import type { EventStream } from './stream/event-stream.ts'

/** What can be watched while it happens: the stream of events, and the series. */
export interface Live {
  readonly stream: EventStream
  readonly series: SeriesBook
}

/** To be told what the dispatcher does. */
export function liveEvents({ stream, series }: Live): DispatchEvents {
  return {
    attemptEnded: event => series.attemptEnded(event),
    taskChanged: (tenant, change) => stream.taskChanged(tenant, change),
    taskEnded() {},
    held() {},
    breakerChanged() {},
    orphan() {},
    warning() {},
  }
}
