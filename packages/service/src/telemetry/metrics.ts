import { Counter, Registry } from '@prometheus-io/client'
import { CountedEvents } from './counted.ts'
import type { DispatchEvents } from './events.ts'
import { Gauges, type ServiceReading } from './gauges.ts'

export interface MetricsOptions {
  /** Asked at every scrape: nothing is polled. It must not fail; a store that does is left out of its answer. */
  readonly read: () => Promise<ServiceReading>
  /** Lines of the log that could not be written, so far. */
  readonly lostLogLines?: () => number
  /** So many policies have series of their own; what comes later is `other`. */
  readonly mostPolicies?: number
  /** So many destinations, those with the longest backlogs; the rest are added up as `other`. */
  readonly mostDestinations?: number
}

/** Whoever chooses names, a scrape stays below four thousand lines. */
const DEFAULT_METRICS = { mostPolicies: 100, mostDestinations: 100, lostLogLines: () => 0 } as const

export interface ServiceMetrics {
  /** To be told what happens. */
  readonly events: DispatchEvents
  /** So many dead letters were brought back by a replay of many. */
  replaysMoved(count: number): void
  /** The answer to a scrape. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** What the service counts, in the words of Prometheus; in a registry of its own, for the library's set has names in common. */
export function createServiceMetrics(options: MetricsOptions): ServiceMetrics {
  const { read, lostLogLines, mostPolicies, mostDestinations } = { ...DEFAULT_METRICS, ...options }
  const registry = new Registry()
  const events = new CountedEvents(registry, mostPolicies)
  const gauges = new Gauges(registry, mostDestinations)
  const moved = new Counter({
    name: 'retry_replay_moved_total',
    help: 'Dead letters that replays of many brought back.',
    registers: [registry],
  })
  const lost = new Counter({
    name: 'retry_log_lines_lost_total',
    help: 'Lines of the log that could not be written.',
    registers: [registry],
  })
  return {
    events,
    replaysMoved: count => moved.inc(count),
    async scrape() {
      gauges.show(await read())
      lost.reset()
      lost.inc(lostLogLines())
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
