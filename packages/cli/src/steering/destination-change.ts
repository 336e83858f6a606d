import type { Client, Destination } from '@secondwind/client'
import type { Command } from '../command.ts'
import { REASON_OPTION } from '../remote/reason.ts'
import { remoteCommand, type RemoteCall, type RemoteCommand } from '../remote/remote-command.ts'
import { unlessForbidden } from '../remote/unless-forbidden.ts'
import { DESTINATION_ARGUMENT, destinationPage } from '../destinations/destination-page.ts'
import { isNeverUsed, slipOf } from '../destinations/never-used.ts'
import { watchIt } from './watch-it.ts'

interface Change extends Pick<RemoteCommand, 'path' | 'summary' | 'options' | 'examples'> {
  readonly change: (client: Client, destination: string, call: RemoteCall) => Promise<Destination>
  /** What it comes to, in a sentence. */
  readonly say: (destination: Destination, call: RemoteCall) => string
  readonly next: (destination: Destination, call: RemoteCall) => readonly string[]
  /** What is said of an order that may find nothing to change, where it did. */
  readonly unchanged?: (destination: Destination) => string
}

/** A change of one destination: what it is then, what that means, and how to undo it. */
export function destinationChange({ change, say, next, unchanged, options = [], ...command }: Change): Command {
  return remoteCommand({
    ...command,
    arguments: [DESTINATION_ARGUMENT],
    options: [...options, REASON_OPTION],
    isChange: true,
    run: async call => {
      const name = call.args[0] as string
      const before = unchanged && (await unlessForbidden(call.client.destinations.get(name)))
      const destination = await change(call.client, name, call)
      const isUnchanged = before !== undefined && before.settings?.version === destination.settings?.version
      // An order in advance is a good order; one for a name with a slip in it is none.
      const slip = isNeverUsed(destination) ? await slipOf(destination, name, call) : undefined
      if (slip !== undefined) call.terminal.tell(`${slip.say}\n`)
      return {
        data: destination,
        show: await destinationPage(destination, call),
        verdict: isUnchanged ? unchanged!(destination) : say(destination, call),
        next: [...(slip?.next ?? []), ...(isUnchanged ? watchIt : next)(destination, call)],
      }
    },
  })
}
