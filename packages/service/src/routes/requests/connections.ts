/**
 * Connections of callers, who hold descriptors that deliveries need, too.
 *
 *  1. There are no more than `limits.connections`. When they are all taken, one makes room for whoever comes: the longest
 *     idle of those that never showed a good key, else of these the one that is longest under way, so that whoever has no key
 *     keeps nobody out; where there is none, the longest idle of whoever has most idle ones.
 *  2. Tenants share nine tenths of them, as slots are shared. Whoever has its part gives up its own longest idle one for the
 *     next, and is refused where none is idle: no tenant, nor all of them, keep out an operator.
 *  3. None that showed a key is cut off while it has a request under way, but for the rules that follow; where all have, the
 *     newcomer is hung up on.
 *  4. Whoever takes nothing of its answer between two looks, `limits.answerTimeoutMs` apart, is cut off: the answer would stay
 *     in memory. Node looks, and takes what the system's own buffers took before the first look for progress.
 *  5. Whoever sends more than `limits.sentAhead` requests ahead is cut off, and so is whoever sends one behind an answer
 *     that has no end. Node parses all that has arrived, thousands of them, in one turn: nobody else has any meanwhile.
 */
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { ConnectionBook } from './connection-book.ts'
import { isEndless } from './endless.ts'
import { holderOf, NOBODY } from './holder.ts'
import { addRouteHooks } from './route-hooks.ts'

type Setting = Pick<ApiContext, 'limits' | 'clock' | 'random'>

const TELL_AGAIN_MS = 60_000
const FULL_WAIT_MS = 1_000

/** What it returns is to be called for every scope whose requests are guarded, behind the guards: they say whose one is. */
export function boundConnections(
  api: FastifyInstance,
  { limits, clock, random }: Setting,
): (guarded: FastifyInstance) => void {
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
      const spared = book.mostSpared() ?? socket
      tellFull()
      cut(spared)
      if (spared === socket) return
    }
    book.add(socket)
    socket.once('close', () => cut(socket))
  })

  // One for all of them: each is told once, and knows its request.
  const end = function (this: ServerResponse): void {
    book.end(this.req.socket)
  }
  // Before the handler, which knows at once who asks: a connection is no longer idle when it is given to somebody.
  admitOnly(api.server, ({ socket }, response) => {
    if (socket.destroyed) return false
    const { underWay = 0 } = book.of(socket) ?? {}
    if (underWay >= limits.sentAhead || isEndless(socket)) {
      parseNoMore(socket)
      cut(socket)
      return false
    }
    book.begin(socket)
    response.on('close', end)
    return true
  })
  // Nothing has gone in or out for a while, which of a connection that was kept alive is longer.
  api.server.on('timeout', (socket: Socket) => {
    const connection = book.of(socket)
    // Of a first request that does not come there is an end, too, and it is told so.
    if (connection?.hasAsked === false) return
    const isWaitingForUs = connection !== undefined && connection.underWay > 0 && socket.writableLength === 0
    if (!isWaitingForUs) cut(socket)
  })

  const giveConnection: onRequestHookHandler = ({ caller, raw: { socket } }, _, done) => {
    const holder = holderOf(caller)
    const connection = book.of(socket)
    if (holder === NOBODY || connection === undefined || connection.holder === holder) return done()
    if (!book.hasRoomFor(holder)) {
      const own = book.longestIdleOf(holder)
      if (own === undefined) return done(tooMany(limits.connections, random()))
      cut(own)
    }
    book.give(socket, holder)
    done()
  }
  return guarded => addRouteHooks(guarded, () => ({ onRequest: giveConnection }))
}

/** The handlers that are there hear of no other requests: the framework would begin to work on each of them. */
function admitOnly(server: Server, isAdmitted: (asked: IncomingMessage, response: ServerResponse) => boolean): void {
  for (const event of ['request', 'checkExpectation'] as const) {
    const handlers = server.listeners(event) as ((asked: IncomingMessage, response: ServerResponse) => void)[]
    server.removeAllListeners(event)
    server.on(event, (asked: IncomingMessage, response: ServerResponse) => {
      if (isAdmitted(asked, response)) for (const handle of handlers) handle.call(server, asked, response)
    })
  }
}

/**
 * What has arrived is parsed to the end though its socket is gone, and each request costs nearly as much as if it were
 * answered. Node describes no way to stop that: its parser stops at what it takes for another protocol, which is what 2
 * says. A Node that does not know this parses on, and a test fails.
 */
function parseNoMore(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming: () => number } | null }
  if (parser) parser.onIncoming = () => 2
}

function tooMany(connections: number, roll: number): Refusal {
  return new Refusal('too-many-connections', {
    detail: `Callers may hold ${connections} connections, and one tenant no more than leave some for others. Send requests one after the other on those that you have.`,
    headers: { connection: 'close', ...comeBackAfter(FULL_WAIT_MS, roll) },
  })
}
