/**
 * Connections of callers, who hold descriptors that deliveries need, too.
 *
 *  1. There are no more than `limits.connections`. When they are all taken, one makes room for whoever comes: the longest
 *     idle of those that never showed a good key, so that whoever has none keeps nobody out.
 *  2. None is cut off that has a request under way, but for the third rule; where all have, the newcomer is hung up on.
 *  3. Whoever takes nothing of its answer for `limits.answerTimeoutMs` is cut off: the answer would stay in memory.
 */
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'
import type { ApiContext } from '../context.ts'

interface Connection {
  underWay: number
  hasAsked: boolean
  hasShownKey: boolean
}

const TELL_AGAIN_MS = 60_000

export function boundConnections(api: FastifyInstance, { limits, clock }: Pick<ApiContext, 'limits' | 'clock'>): void {
  const connections = new Map<Socket, Connection>()
  /** Those that may make room, the longest idle first. */
  const idle = new Set<Socket>()
  const cut = (socket: Socket): void => {
    // At once, though its end is heard of later: others may come meanwhile.
    connections.delete(socket)
    idle.delete(socket)
    socket.destroy()
  }
  let tellAt = -Infinity
  const tellFull = (): void => {
    if (clock.monotonic() < tellAt) return
    tellAt = clock.monotonic() + TELL_AGAIN_MS
    api.log.warn(
      { code: 'connections-full' },
      `callers hold ${limits.connections} connections: those that are idle and showed no key make room for whoever comes beyond, or nobody does`,
    )
  }

  api.server.on('connection', (socket: Socket) => {
    if (connections.size >= limits.connections) {
      const [longestIdle = socket] = idle
      tellFull()
      cut(longestIdle)
      if (longestIdle === socket) return
    }
    connections.set(socket, { underWay: 0, hasAsked: false, hasShownKey: false })
    idle.add(socket)
    socket.once('close', () => cut(socket))
  })

  api.server.on('request', ({ socket }, response) => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    connection.underWay++
    connection.hasAsked = true
    idle.delete(socket)
    response.once('close', () => {
      connection.underWay--
      if (connection.underWay === 0 && !connection.hasShownKey && connections.has(socket)) idle.add(socket)
    })
  })
  // The first that comes after the guards.
  api.addHook('preParsing', ({ caller, raw }, _, payload, done) => {
    const connection = connections.get(raw.socket)
    if (connection !== undefined && hasKey(caller)) connection.hasShownKey = true
    done(null, payload)
  })

  // Nothing has gone in or out for a while, which of a connection that was kept alive is longer.
  api.server.on('timeout', (socket: Socket) => {
    const connection = connections.get(socket)
    // Of a first request that does not come there is an end, too, and it is told so.
    if (connection?.hasAsked === false) return
    const isWaitingForUs = connection !== undefined && connection.underWay > 0 && socket.writableLength === 0
    if (!isWaitingForUs) cut(socket)
  })
}

/** Nobody is known where everybody may ask, nor where there are no keys. */
function hasKey(caller: Caller | null): boolean {
  return caller !== null && caller.actor !== LOCAL_CALLER.actor
}
