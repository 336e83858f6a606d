import type { DestinationSettings, SetBy } from '../../task/destination-settings.ts'
import type { Standing } from '../../task/orders.ts'
import { Refusal } from '../answers/refusal.ts'

/** An order for a destination, and what is done to it. */
export interface Touched {
  readonly part: keyof typeof DONE
  readonly isLifted: boolean
}

const DONE = {
  paused: 'paused it',
  draining: 'drained it',
  forced: 'set its breaker by hand',
  limitsBy: 'limited it',
} as const

/** What whoever runs the service has ordered no tenant lifts, nor covers with an order of its own that ends sooner. */
export function refuseForeign(
  { part, isLifted }: Touched,
  { own, all }: Required<Standing>,
  after: DestinationSettings,
): void {
  const [ours, everybodys] = [orderOf(own, part), orderOf(all, part)]
  if (ours !== undefined && ours === orderOf(after, part)) return
  const foreign = ours?.isByOperator ? ours : isLifted && ours === undefined ? everybodys : undefined
  if (foreign === undefined) return
  throw new Refusal('scope-missing', {
    detail: `Whoever runs the service has ${DONE[part]} (${foreign.by}${foreign.reason === undefined ? '' : `: ${foreign.reason}`}), and alone takes that back.`,
  })
}

function orderOf(settings: DestinationSettings, part: Touched['part']): SetBy | undefined {
  return part === 'forced' && settings.forced?.breaker === 'auto' ? undefined : settings[part]
}
