import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ApiContext } from '../context.ts'
import { accessOf } from '../schemas/operation.ts'
import { holderOf, isTenant } from './holder.ts'
import { whenTaken } from './when-taken.ts'

/** Of an order without its document: a record, a line of the audit, and the pages of the log that they are written with. */
const ORDER_BYTES = 8_192

/**
 * Refuses what tenants order while the disk has no room for it: each order leaves a line, and nobody counts them. Operators are
 * let through, for they have to put an end to it.
 */
export function boundOrders(api: FastifyInstance, { space }: Pick<ApiContext, 'space'>): void {
  if (space === undefined) return
  api.addHook('preHandler', async (request, reply) => {
    if (isOfTenant(request)) whenTaken(reply, await space.take('orders', bytesOf(request)))
  })
}

function isOfTenant({ method, caller, routeOptions }: FastifyRequest): boolean {
  const { scope } = accessOf(routeOptions.schema)
  if (method === 'GET' || method === 'HEAD' || !isTenant(holderOf(caller))) return false
  // Whoever shuts a door must not be kept from it, and there are no more of these orders than doors.
  return scope === 'operate' || (scope === 'admin' && method !== 'DELETE')
}

function bytesOf({ body }: FastifyRequest): number {
  return ORDER_BYTES + Buffer.byteLength(JSON.stringify(body ?? null))
}
