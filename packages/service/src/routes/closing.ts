import type { FastifyInstance } from 'fastify'
import type { ApiContext } from './context.ts'

/** Whoever has not sent a whole request by then is cut off. */
const LAST_REQUESTS_MS = 5_000

/** A server that closes looks no more for requests that do not come in: one of them would keep it open for ever. */
export function closeInTime(api: FastifyInstance, { clock }: Pick<ApiContext, 'clock'>): void {
  const closed = new AbortController()
  api.addHook('preClose', async () => {
    void clock.sleep(LAST_REQUESTS_MS, closed.signal).then(
      () => api.server.closeAllConnections(),
      () => undefined,
    )
  })
  api.addHook('onClose', async () => closed.abort())
}
