/** What people have switched off: most of it stays so until somebody remembers. */
import type { Control, Destination } from '@secondwind/client'
import { standingOrders } from '../destinations/standing-orders.ts'
import { sayControl } from '../kill/say-control.ts'
import { sayWhen } from '../output/say-time.ts'
import { ok, warn, type Finding } from './finding.ts'
import type { Examined } from './service.ts'

interface Switched {
  readonly controls: readonly Control[]
  readonly destinations: readonly Destination[]
  readonly now: number
}

export function checkSwitches({ controls, destinations, now }: Switched, typed: Examined['typed']): readonly Finding[] {
  const killed = controls.map(control =>
    warn(
      'kill switch',
      `${sayControl(control, now)}; since ${sayWhen(control.createdAt, now)}, by ${control.createdBy}.`,
      typed('kill', 'off', control.controlId),
    ),
  )
  const ordered = destinations
    .flatMap(destination => standingOrders(destination, now))
    .map(({ say, end }) => warn('by hand', say, typed(...end)))
  const found = [...killed, ...ordered]
  return found.length > 0 ? found : [ok('by hand', 'No kill switch is on, and no destination is stopped by hand.')]
}
