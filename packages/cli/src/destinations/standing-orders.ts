import type { Destination, DestinationSettings, SetBy } from '@secondwind/client'
import type { SayingWho } from '../access/who.ts'
import { sayWhen } from '../output/say-time.ts'

/** What somebody has ordered for a destination by hand, and what ends it. */
export interface StandingOrder {
  readonly what: string
  readonly setBy: SetBy
  /** The words of the command that takes it back. */
  readonly end: readonly string[]
  /** Holds for every tenant, and is shown to one: no order of its own ends it. */
  readonly isOfAll?: true
}

/** The words that take each back. */
export const ENDS: {
  readonly [order in 'paused' | 'draining' | 'forced']: (name: string) => readonly [string, ...string[]]
} = {
  paused: name => ['resume', name],
  draining: name => ['destinations', 'undrain', name],
  forced: name => ['destinations', 'breaker', name, '--set', 'auto'],
}

/** Those in force: of whoever asks, those for every tenant, and those of each tenant for itself. */
export function standingOrders(one: Destination, now: number): readonly StandingOrder[] {
  const { settings = {}, operatorSettings = {}, destination, name = destination } = one
  const ofAll = ordersIn(operatorSettings, name, now)
  return [
    ...ordersIn(settings, name, now),
    ...ofAll.map(order => ({ ...order, what: `For all: ${order.what}`, isOfAll: true as const })),
    ...[one, ...(one.tenants ?? [])].flatMap(({ tenant = '', tenantSettings = {} }) =>
      ordersIn(tenantSettings, destination, now).map(order => ({
        ...order,
        what: `For ${tenant}: ${order.what}`,
        end: [...order.end, '--tenant', tenant],
      })),
    ),
  ]
}

/** The pauses that go on when whoever asks has taken back its own, as sentences. */
export function pausesLeft(destination: Destination, now: number): readonly string[] {
  return standingOrders(destination, now).flatMap(({ what, end }) => (end[0] === 'resume' ? what : []))
}

function ordersIn({ paused, draining, forced }: DestinationSettings, name: string, now: number): StandingOrder[] {
  const orders: StandingOrder[] = []
  if (paused !== undefined)
    orders.push({
      what: `${name} is paused ${sayEnd(paused.until, now)}`,
      setBy: paused,
      end: ENDS.paused(name),
    })
  if (draining !== undefined)
    orders.push({
      what: `New tasks for ${name} are refused`,
      setBy: draining,
      end: ENDS.draining(name),
    })
  if (forced !== undefined && forced.breaker !== 'auto')
    orders.push({
      what: `The breaker of ${name} is ${forced.breaker} by hand`,
      setBy: forced,
      end: ENDS.forced(name),
    })
  return orders
}

function sayEnd(until: number | undefined, now: number): string {
  return until === undefined ? 'until it is resumed' : `until ${sayWhen(until, now)}`
}

/** What it does, since when, by whom and why, as a sentence. */
export function sayOrder({ what, setBy }: StandingOrder, { now, nameOf }: SayingWho): string {
  return `${what}; ${saySetBy(setBy, { now, nameOf })}.`
}

/** `since 2026-11-16T02:07:58Z, 3 min ago, by night-shift: INC-2231`. */
export function saySetBy({ since, by, reason }: SetBy, { now, nameOf }: SayingWho): string {
  return `since ${sayWhen(since, now)}, by ${nameOf(by)}${reason === undefined ? '' : `: ${reason}`}`
}

/** Everybody who has set something for it. */
export function settersOf({
  settings,
  operatorSettings,
  tenantSettings,
  tenants = [],
}: Destination): readonly string[] {
  const ofTenants = [tenantSettings, ...tenants.map(one => one.tenantSettings)]
  return [settings, operatorSettings, ...ofTenants].flatMap((set = {}) =>
    [set.limitsBy, set.paused, set.resumed, set.draining, set.forced].flatMap(order => order?.by ?? []),
  )
}
