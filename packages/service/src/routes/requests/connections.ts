/**
 * Connections of callers. They take descriptors that deliveries need, so there are no more than `limits.connections`; beyond
 * that Node hangs up on a caller. When it has to, every connection is closed that serves no admitted request, whatever was
 * sent on it: the caller gets in when it tries again. Requests and listeners together have fewer slots than there are
 * connections, so there is always one to close.
 */
import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'
import type { ApiContext } from '../context.ts'
import { isServing } from './when-taken.ts'

const SAY_AGAIN_MS = 60_000

export function boundConnections(api: FastifyInstance, { limits, clock }: Pick<ApiContext, 'limits' | 'clock'>): void {
  const { server } = api
  server.maxConnections = limits.connections
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  let sayAt = -Infinity
  server.on('drop', () => {
    // Node's closeIdleConnections leaves those on which nothing, or half a request, was sent.
    for (const socket of open) if (!isServing(socket)) socket.destroy()
    if (clock.monotonic() < sayAt) return
    sayAt = clock.monotonic() + SAY_AGAIN_MS
    api.log.warn(
      { code: 'connections-full' },
      `callers hold ${limits.connections} connections: those without a request under way are closed to make room`,
    )
  })
}
