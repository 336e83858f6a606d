import type { DeliveryScenario } from './delivery.ts'
import { deliveryReadingOf, deliverySpreads, type DeliveryReading, type DeliverySpreads } from './delivery-reading.ts'
import { runDelivery } from './run-delivery.ts'

export interface DeliveriesOverSeeds {
  /** One for each seed. */
  readonly readings: readonly DeliveryReading[]
  readonly spreads: DeliverySpreads
}

/** The same scenario with several seeds, one after another: the range in which a live run should lie. */
export function deliveriesOverSeeds(
  scenario: DeliveryScenario,
  { runs = 20, seed = 1 }: { readonly runs?: number; readonly seed?: number } = {},
): DeliveriesOverSeeds {
  const seeds = Array.from({ length: runs }, (_, index) => seed + index)
  const readings = seeds.map(one => deliveryReadingOf(runDelivery(scenario, { seed: one })))
  return { readings, spreads: deliverySpreads(readings) }
}
