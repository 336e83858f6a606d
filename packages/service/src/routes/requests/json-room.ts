import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { ApiContext } from '../context.ts'
import { refusalOfFull } from '../tasks/enqueued.ts'
import { holderOf } from './holder.ts'
import { Parts } from './parts.ts'
import { addRouteHooks } from './route-hooks.ts'
import { whenTaken } from './when-taken.ts'

/** What has less is not worth the counting: a connection takes as much. */
const SMALL_BODY_BYTES = 65_536

/**
 * Bounds the bytes of large JSON bodies in memory, by what their heads announce and before any of it is read: until the
 * request has been answered, for what was parsed is as large, or is broken off. They are shared as slots are.
 */
export function boundJsonBodies(api: FastifyInstance, { limits, random }: Pick<ApiContext, 'limits' | 'random'>): void {
  const parts = new Parts(limits.jsonBytes)
  const takeRoom: onRequestHookHandler = (request, reply, done) => {
    const bytes = announcedBytes(request)
    // More than is ever taken is refused by what reads it: that is nothing to come back with.
    if (bytes < SMALL_BODY_BYTES || bytes > request.routeOptions.bodyLimit) return done()
    const holder = holderOf(request.caller)
    if (!parts.hasRoom(holder, bytes))
      return done(refusalOfFull(random, 'As many bytes of large JSON bodies are under way as may be at once.'))
    parts.take(holder, bytes)
    whenTaken(reply, () => parts.giveBack(holder, bytes))
    done()
  }
  addRouteHooks(api, () => ({ onRequest: takeRoom }))
}

/** Whoever does not say how many may send as many as are taken. */
function announcedBytes(request: FastifyRequest): number {
  const { 'transfer-encoding': coding, 'content-length': length = 0 } = request.headers
  return coding === undefined ? Number(length) : request.routeOptions.bodyLimit
}
