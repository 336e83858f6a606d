/**
 * Connections of callers, who hold descriptors that deliveries need, too.
 *
 *  1. There are no more than `limits.connections`. When they are all taken, an idle one makes room for whoever comes: the
 *     longest idle of those that never showed a good key, so that whoever has none keeps nobody out; where there is none, the
 *     longest idle of whoever has most idle ones.
 *  2. Tenants share nine tenths of them, as slots are shared. Whoever has its part gives up its own longest idle one for the
 *     next, and is refused where none is idle: no tenant, nor all of them, keep out an operator.
 *  3. None is cut off that has a request under way, but for the fourth rule; where all have, the newcomer is hung up on.
 *  4. Whoever takes nothing of its answer for `limits.answerTimeoutMs` is cut off: the answer would stay in memory.
 */
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { ConnectionBook } from './connection-book.ts'

type Setting = Pick<ApiContext, 'limits' | 'clock' | 'random'>

const TELL_AGAIN_MS = 60_000
const FULL_WAIT_MS = 1_000

export function boundConnections(api: FastifyInstance, { limits, clock, random }: Setting): void {
  const book = new ConnectionBook(limits.connections)
  const cut = (socket: Socket): void => {
    // At once, though its end is heard of later: others may come meanwhile.
    book.remove(socket)
    socket.destroy()
  }
  let tellAt = -Infinity
  const tellFull = (): void => {
    if (clock.monotonic() < tellAt) return
    tellAt = clock.monotonic() + TELL_AGAIN_MS
    api.log.warn(
      { code: 'connections-full' },
      `callers hold ${limits.connections} connections: those that are idle make room for whoever comes beyond, or nobody does`,
    )
  }

  api.server.on('connection', (socket: Socket) => {
    if (book.size >= limits.connections) {
      const longestIdle = book.longestIdle() ?? socket
      tellFull()
      cut(longestIdle)
      if (longestIdle === socket) return
    }
    book.add(socket)
    socket.once('close', () => cut(socket))
  })

  // Before the handler, which knows at once who asks: a connection is no longer idle when it is given to somebody.
  api.server.prependListener('request', ({ socket }, response) => {
    book.begin(socket)
    response.once('close', () => book.end(socket))
  })
  // The first that comes after the guards.
  api.addHook('preParsing', ({ caller, raw: { socket } }, _, payload, done) => {
    const holder = holderOf(caller)
    const connection = book.of(socket)
    if (holder === undefined || connection === undefined || connection.holder === holder) return done(null, payload)
    if (!book.hasRoomFor(holder)) {
      const own = book.longestIdleOf(holder)
      if (own === undefined) return done(tooMany(limits.connections, random()))
      cut(own)
    }
    book.give(socket, holder)
    done(null, payload)
  })

  // Nothing has gone in or out for a while, which of a connection that was kept alive is longer.
  api.server.on('timeout', (socket: Socket) => {
    const connection = book.of(socket)
    // Of a first request that does not come there is an end, too, and it is told so.
    if (connection?.hasAsked === false) return
    const isWaitingForUs = connection !== undefined && connection.underWay > 0 && socket.writableLength === 0
    if (!isWaitingForUs) cut(socket)
  })
}

/** Nobody is known where everybody may ask, nor where there are no keys. */
function holderOf(caller: Caller | null): string | undefined {
  if (caller === null || caller.actor === LOCAL_CALLER.actor) return undefined
  return caller.isOperator ? EVERY_TENANT : caller.tenant
}

function tooMany(connections: number, roll: number): Refusal {
  return new Refusal('too-many-connections', {
    detail: `Callers may hold ${connections} connections, and one tenant no more than leave some for others. Send requests one after the other on those that you have.`,
    headers: { connection: 'close', ...comeBackAfter(FULL_WAIT_MS, roll) },
  })
}
