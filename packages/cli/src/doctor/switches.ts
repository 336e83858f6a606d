/** What people have switched off: most of it stays so until somebody remembers. */
import type { Control, Destination } from '@secondwind/client'
import { namesOf } from '../access/who.ts'
import { sayLimits } from '../destinations/say-limits.ts'
import { sayOrder, saySetBy, settersOf, standingOrders } from '../destinations/standing-orders.ts'
import { sayControl } from '../kill/say-control.ts'
import { sayWhen } from '../output/say-time.ts'
import { ok, warn, type Finding } from './finding.ts'
import type { Examined } from './service.ts'

interface Switched {
  readonly controls: readonly Control[]
  readonly destinations: readonly Destination[]
}

export async function checkSwitches(
  { controls, destinations }: Switched,
  { client, clock, typed }: Pick<Examined, 'client' | 'clock' | 'typed'>,
): Promise<readonly Finding[]> {
  const now = clock.now()
  const actors = [...controls.map(({ createdBy }) => createdBy), ...destinations.flatMap(settersOf)]
  const nameOf = await namesOf(actors, { client })
  const killed = controls.map(control =>
    warn(
      'kill switch',
      `${sayControl(control, now)}; since ${sayWhen(control.createdAt, now)}, by ${nameOf(control.createdBy)}.`,
      typed('kill', 'off', control.controlId),
    ),
  )
  const ordered = destinations
    .flatMap(destination => standingOrders(destination, now))
    .map(order => [sayOrder(order, { now, nameOf }), typed(...order.end)] as const)
  // What holds for all is told by each tenant's own row.
  const found = [...killed, ...Array.from(new Map(ordered), ([say, next]) => warn('by hand', say, next))]
  const limited = destinations.flatMap(({ destination, settings, operatorSettings }) =>
    [settings, operatorSettings].flatMap(set => {
      const words = sayLimits(set?.limits)
      const whose = set?.limitsBy === undefined ? '' : `; ${saySetBy(set.limitsBy, { now, nameOf })}`
      return words === undefined ? [] : [`${destination} is limited: ${words}${whose}.`]
    }),
  )
  const limits = Array.from(new Set(limited), say => ok('limits', say))
  return found.length > 0
    ? [...found, ...limits]
    : [ok('by hand', 'No kill switch is on, and no destination is stopped by hand.'), ...limits]
}
