import {
  creditOrder,
  orderedBack,
  type DestinationSettings,
  type SetBy,
  type Standing,
} from '../../task/destination-settings.ts'
import { Refusal } from '../answers/refusal.ts'

/** An order for a destination, and what is done to it. */
export interface Touched {
  readonly part: keyof typeof DONE
  readonly isLifted: boolean
}

const DONE = {
  paused: 'paused it',
  resumed: 'said how it comes back',
  draining: 'drained it',
  forced: 'set its breaker by hand',
  limitsBy: 'limited it',
} as const

/** No tenant lifts an order of an operator, nor covers it with an order of its own that ends sooner. */
export function refuseForeign(
  { part, isLifted }: Touched,
  { own, all }: Required<Standing>,
  { after, now }: { readonly after: DestinationSettings; readonly now: number },
): void {
  const judging = part === 'forced' && after.forced?.breaker === 'closed' ? creditOrder({ own, all }) : undefined
  if (judging !== undefined) throw refusal('set its credit', judging)
  const [ours, everybodys] = [orderOf(own, part, now), orderOf(all, part, now)]
  if (ours !== undefined && ours === orderOf(after, part, now)) return
  const foreign = ours?.isByOperator ? ours : isLifted && ours === undefined ? everybodys : undefined
  if (foreign !== undefined) throw refusal(DONE[part], foreign)
}

function refusal(done: string, { by, reason }: SetBy): Refusal {
  const whoAndWhy = reason === undefined ? by : `${by}: ${reason}`
  return new Refusal('scope-missing', {
    detail: `An operator has ${done} (${whoAndWhy}), and only an operator can take that back.`,
  })
}

function orderOf(settings: DestinationSettings, part: Touched['part'], now: number): SetBy | undefined {
  if (part === 'resumed') return orderedBack(settings, now)
  return part === 'forced' && settings.forced?.breaker === 'auto' ? undefined : settings[part]
}
