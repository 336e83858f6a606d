import type { DeliveriesPicture, DistributionPicture } from '../plots/picture.ts'
import { DEFAULT_DELIVERY, type DeliveryScenario } from './delivery.ts'
import type { DeliveryResult } from './delivery-result.ts'

/** Tasks that wait, and requests by their result, with the troubles of the destination. */
export function deliveriesOf(
  { perStep, stepMs, endedAtMs }: DeliveryResult,
  { destination, restarts = [] }: DeliveryScenario,
): DeliveriesPicture {
  const { troubles = [], limit } = destination
  return {
    kind: 'deliveries',
    title: 'tasks and requests',
    bucketMs: stepMs,
    ...perStep,
    ...(limit !== undefined && { capacityPerSecond: limit.perSecond }),
    spans: [
      ...troubles.map(({ kind, fromMs, untilMs }) => ({
        name: kind,
        fromMs,
        untilMs: Math.min(untilMs, Math.max(fromMs, endedAtMs)),
      })),
      ...restarts.map(({ atMs, downMs = DEFAULT_DELIVERY.downMs }) => ({
        name: 'restart',
        fromMs: atMs,
        untilMs: atMs + downMs,
      })),
    ],
  }
}

/** How late tasks were delivered, group by group; tasks that never were are missing to the whole. */
export function latenessOf({ groups }: DeliveryResult): DistributionPicture {
  return {
    kind: 'cdf',
    title: 'tasks delivered within a time of their arrival',
    scale: 'log',
    series: Object.entries(groups)
      .filter(([, { delivered }]) => delivered > 0)
      .map(([name, { tasks, delivered, lateness }]) => ({
        name,
        points: lateness.distribution.map(({ ms, share }) => ({ atMs: ms, share: (share * delivered) / tasks })),
      })),
  }
}
