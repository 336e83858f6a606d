import type { Destination } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'

export function nameOf({ name, destination }: Destination): string {
  return name ?? destination
}

/** Where to see what a change has done. */
export function watchIt(destination: Destination, { typed }: RemoteCall): readonly string[] {
  return [typed('destinations', 'get', nameOf(destination)), typed('series', destination.destination)]
}
