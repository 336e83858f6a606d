import type { Destination } from '@secondwind/client'
import { standingOrders } from '../destinations/standing-orders.ts'
import type { RemoteCall } from '../remote/remote-command.ts'

export function nameOf({ name, destination }: Destination): string {
  return name ?? destination
}

/** Where to see what a change has done; before that, how to take back what stands. */
export function watchIt(destination: Destination, { typed, clock }: RemoteCall): readonly string[] {
  return [
    ...standingOrders(destination, clock.now()).flatMap(({ end, isOfAll }) => (isOfAll ? [] : typed(...end))),
    typed('destinations', 'get', nameOf(destination)),
    typed('series', destination.destination),
  ]
}
