/** A world in which the service delivers tasks: by which policy, and with which changes. */
import { checkDelivery, type DeliveryScenario, type PolicyDocument } from '@secondwind/lab'
import { check } from '@secondwind/resilience/rules'
import type { GivenOptions } from '../command.ts'
import { problemsFailure, usageFailure } from '../failure.ts'
import { typed } from '../input/typed.ts'
import { changed, type Assignment } from './policy-choice.ts'

export interface DeliveryChoice {
  readonly kind: 'delivery'
  /** The world with the retries of this policy, and with what --set changes in it. */
  readonly at: (policy: PolicyDocument | undefined) => DeliveryScenario
  readonly seeds: readonly number[]
}

interface Asked extends Pick<DeliveryChoice, 'seeds'> {
  readonly named: string
  readonly document: object
  readonly set: readonly Assignment[]
  readonly given: GivenOptions
}

/** A file says so itself. */
export function isDelivery(document: unknown): document is object {
  return check.isRecord(document) && document['kind'] === 'delivery'
}

export function deliveryChoice({ named, document, set, seeds, given }: Asked): DeliveryChoice {
  if (given['budget'] !== undefined) throw budgetOfLane()
  return {
    kind: 'delivery',
    at: policy => {
      const own = policy === undefined ? document : { ...document, policy: retriesOf(policy) }
      const { delivery, problems } = checkDelivery(set.reduce(changed, own))
      if (delivery !== undefined) return delivery
      const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
      throw problemsFailure({ code: 'invalid-scenario', what: `the scenario ${named} has ${count}` }, problems)
    },
    seeds,
  }
}

/** The other parts of a pipeline work in a caller's process. The service has a lane in their place. */
function retriesOf(policy: PolicyDocument): PolicyDocument {
  return 'retry' in policy ? (policy.retry ?? {}) : policy
}

export function notForDeliveries(named: string): Error {
  return usageFailure({
    code: 'invalid-scenario',
    what: `${named} is a delivery of the service, and no world of callers`,
    because: ['Commands that compare policies of callers cannot read it. lab run and lab assert can.'],
    next: [typed(['lab', 'run', named])],
  })
}

function budgetOfLane(): Error {
  const say = 'is for callers; in a delivery the lane may have a budget: --set lane.budget=…'
  return problemsFailure({ code: 'wrong-option', what: '--budget does not fit' }, [
    { at: '--budget', is: undefined, say },
  ])
}
