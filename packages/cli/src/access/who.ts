/** Whose key that was: at night a name tells more than sixteen digits. */
import { ServiceError, UnreachableError, type Key } from '@secondwind/client'
import { readItems } from '../remote/listing.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import type { Said } from '../terminal/table.ts'

/** From the id of an actor to what people call it. */
export type NameOfActor = (actor: string) => string

/** What it takes to tell who did something, and when. */
export interface SayingWho {
  readonly now: number
  readonly nameOf: NameOfActor
}

/** Enough for a service of any size, and read only where a key has acted. */
const MOST_KEYS = 1_000

const KEY_ID = /^[\da-f]{16}$/

/** Ids stay where there is no name, and where keys cannot be seen: what is told of them matters more than their names. */
export async function namesOf(actors: readonly string[], { client }: Pick<RemoteCall, 'client'>): Promise<NameOfActor> {
  if (!actors.some(actor => KEY_ID.test(actor))) return actor => actor
  try {
    const { items } = await readItems(client.keys.list({ all: true }), MOST_KEYS)
    return naming(items)
  } catch (error) {
    if (error instanceof ServiceError || error instanceof UnreachableError) return actor => actor
    throw error
  }
}

/** For a list of what people have made. */
export async function sayingMakers(
  made: readonly { readonly createdBy: string }[],
  call: Pick<RemoteCall, 'client' | 'clock'>,
): Promise<SayingWho> {
  const makers = made.map(({ createdBy }) => createdBy)
  return { now: call.clock.now(), nameOf: await namesOf(makers, call) }
}

/** A name counts where it is one key's alone: nobody passes for another, nor for the service itself. */
export function naming(keys: readonly Pick<Key, 'keyId' | 'name'>[]): NameOfActor {
  const count = (name: string): number => keys.filter(key => key.name === name).length
  const names = new Map(
    keys.flatMap(({ keyId, name = '' }) =>
      name === '' || RESERVED.includes(name) || KEY_ID.test(name) || count(name) > 1 ? [] : [[keyId, name] as const],
    ),
  )
  return actor => names.get(actor) ?? actor
}

/** What the service calls those who have no key. */
const RESERVED: readonly string[] = ['local', 'system']

export function actorCell(actor: string, nameOf: NameOfActor): Said {
  return { value: actor, say: nameOf(actor) }
}
