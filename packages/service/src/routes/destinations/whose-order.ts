import {
  breakerOrder,
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

/** What whoever runs the service has ordered no tenant lifts, nor covers with an order of its own that ends sooner. */
export function refuseForeign(
  { part, isLifted }: Touched,
  { own, all }: Required<Standing>,
  { after, now }: { readonly after: DestinationSettings; readonly now: number },
): void {
  const judging = part === 'forced' && after.forced?.breaker === 'closed' ? breakerOrder({ own, all }) : undefined
  if (judging !== undefined) throw refusal('said how its breaker judges', judging)
  const [ours, everybodys] = [orderOf(own, part, now), orderOf(all, part, now)]
  if (ours !== undefined && ours === orderOf(after, part, now)) return
  const foreign = ours?.isByOperator ? ours : isLifted && ours === undefined ? everybodys : undefined
  if (foreign !== undefined) throw refusal(DONE[part], foreign)
}

/** What a tenant asks for by hand passes a pause of its own alone. */
export function refuseBehindForeignPause({ own, all }: Required<Standing>): void {
  const foreign = [own.paused, all.paused].find(paused => paused?.isByOperator)
  if (foreign !== undefined) throw refusal(DONE.paused, foreign, 'tries it meanwhile')
}

function refusal(done: string, { by, reason }: SetBy, theirs = 'takes that back'): Refusal {
  const whoAndWhy = reason === undefined ? by : `${by}: ${reason}`
  return new Refusal('scope-missing', {
    detail: `Whoever runs the service has ${done} (${whoAndWhy}), and alone ${theirs}.`,
  })
}

function orderOf(settings: DestinationSettings, part: Touched['part'], now: number): SetBy | undefined {
  if (part === 'resumed') return orderedBack(settings, now)
  return part === 'forced' && settings.forced?.breaker === 'auto' ? undefined : settings[part]
}
