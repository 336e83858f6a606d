import { getHeapStatistics } from 'node:v8'
import type { ServiceConfig } from './config.ts'
import { connectionsWithin, mostDescriptors, slotsWithin, type CallerSlots } from './descriptors.ts'
import { lanesWithin } from './heap.ts'
import { DEFAULT_LIMITS, type ApiLimits } from './routes/context.ts'
import { DEFAULT_STREAM_LIMITS } from './telemetry/stream/event-stream.ts'

/** What the API and the event stream take, by the configuration, the heap and the descriptors of this process. */
export function limitsOf(config: ServiceConfig): ApiLimits & CallerSlots {
  const { backlog: total, intakePerSecond, concurrency } = config
  const { connections = connectionsWithin(mostDescriptors(), concurrency) } = config
  const most = { requests: DEFAULT_LIMITS.requests, listeners: DEFAULT_STREAM_LIMITS.listeners }
  return {
    ...DEFAULT_LIMITS,
    backlog: { ...DEFAULT_LIMITS.backlog, total, lanes: lanesWithin(getHeapStatistics().heap_size_limit) },
    connections,
    ...slotsWithin(connections, most),
    ...(intakePerSecond !== undefined && { intakePerSecond }),
  }
}
