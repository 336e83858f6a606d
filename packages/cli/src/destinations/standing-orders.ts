import type { Destination, DestinationSettings, SetBy } from '@secondwind/client'
import { sayWhen } from '../output/say-time.ts'

/** What somebody has ordered for a destination by hand, and what ends it. */
export interface StandingOrder {
  /** What it does, since when, by whom and why, as a sentence. */
  readonly say: string
  /** The words of the command that takes it back. */
  readonly end: readonly string[]
}

/** The words that take each back. */
export const ENDS: {
  readonly [order in 'paused' | 'draining' | 'forced']: (name: string) => readonly [string, ...string[]]
} = {
  paused: name => ['resume', name],
  draining: name => ['destinations', 'undrain', name],
  forced: name => ['destinations', 'breaker', name, '--set', 'auto'],
}

/** Those in force: of whoever asks, then those for every tenant. */
export function standingOrders(one: Destination, now: number): readonly StandingOrder[] {
  const { settings = {}, operatorSettings = {}, destination, name = destination } = one
  const ofAll = ordersIn(operatorSettings, name, now)
  return [...ordersIn(settings, name, now), ...ofAll.map(order => ({ ...order, say: `For all: ${order.say}` }))]
}

function ordersIn({ paused, draining, forced }: DestinationSettings, name: string, now: number): StandingOrder[] {
  const orders: StandingOrder[] = []
  if (paused !== undefined)
    orders.push({
      say: `${name} is paused ${sayEnd(paused.until, now)}; ${saySetBy(paused, now)}.`,
      end: ENDS.paused(name),
    })
  if (draining !== undefined)
    orders.push({
      say: `New tasks for ${name} are refused; ${saySetBy(draining, now)}.`,
      end: ENDS.draining(name),
    })
  if (forced !== undefined && forced.breaker !== 'auto')
    orders.push({
      say: `The breaker of ${name} is ${forced.breaker} by hand; ${saySetBy(forced, now)}.`,
      end: ENDS.forced(name),
    })
  return orders
}

function sayEnd(until: number | undefined, now: number): string {
  return until === undefined ? 'until it is resumed' : `until ${sayWhen(until, now)}`
}

/** `since 2026-11-16T02:07:58Z, 3 min ago, by local: INC-2231`. */
export function saySetBy({ since, by, reason }: SetBy, now: number): string {
  return `since ${sayWhen(since, now)}, by ${by}${reason === undefined ? '' : `: ${reason}`}`
}
