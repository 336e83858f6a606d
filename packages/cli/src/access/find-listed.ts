import type { Listing } from '@secondwind/client'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { RemoteCall } from '../remote/remote-command.ts'

/** The key or secret of this id: what is not there is told before anybody is asked for a yes. */
export async function findListed<Item>(
  listing: Listing<Item>,
  { noun, id, idOf }: { readonly noun: 'key' | 'secret'; readonly id: string; readonly idOf: (item: Item) => string },
  { typed }: Pick<RemoteCall, 'typed'>,
): Promise<Item> {
  for await (const item of listing) if (idOf(item) === id) return item
  throw new Failure({
    code: `${noun}-not-found`,
    what: `there is no ${noun} ${id}`,
    because: ['It is none of those that you may see.'],
    so: 'Nothing was changed.',
    next: [typed(`${noun}s`, 'list')],
    exitCode: EXIT_CODES.notFound,
  })
}
