import { InvalidScenarioError, seedProblems } from '../run-scenario.ts'
import { checkDelivery } from './check-delivery.ts'
import type { DeliveryScenario } from './delivery.ts'
import type { DeliveryResult } from './delivery-result.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { measureDelivery } from './measure-delivery.ts'

/** What a delivery scenario comes to: the service in virtual time, as one pure function. */
export function runDelivery(scenario: DeliveryScenario, { seed = 1 }: { readonly seed?: number } = {}): DeliveryResult {
  const problems = [...(checkDelivery(scenario).problems ?? []), ...seedProblems(seed)]
  if (problems.length > 0) throw new InvalidScenarioError(problems)
  const world = new DeliveryWorld(scenario, seed)
  const endedAtMs = world.run()
  return measureDelivery(scenario, { seed, world, endedAtMs })
}
