import { shares } from '@secondwind/resilience/rules'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EVERY_TENANT } from '../../task/lane.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isList } from '../schemas/operation.ts'
import { callerOf } from './caller.ts'

const FULL_WAIT_MS = 1_000

/**
 * Bounds how many lists are under way, those that wait for their turn included. Places are shared as slots are: a tenant takes nine times what it leaves free, so that
 * there is one for the next; operators count as one more.
 */
export function boundLists(api: FastifyInstance, { limits, random }: Pick<ApiContext, 'limits' | 'random'>): void {
  const underWay = new Map<string, number>()
  const readers = new WeakMap<FastifyRequest, string>()
  let taken = 0
  const change = (reader: string, by: 1 | -1): void => {
    const own = (underWay.get(reader) ?? 0) + by
    taken += by
    if (own === 0) underWay.delete(reader)
    else underWay.set(reader, own)
  }
  api.addHook('preHandler', (request, _, done) => {
    if (!isList(request.routeOptions.schema)) return done()
    const { tenant, isOperator } = callerOf(request)
    const reader = isOperator ? EVERY_TENANT : tenant
    const holding = { free: limits.lists - taken, ofTenant: underWay.get(reader) ?? 0, ofLane: 0 }
    if (shares.mostFor(holding) <= 0)
      return done(
        new Refusal('too-many-lists', {
          detail: `${limits.lists} lists may be under way, and of one tenant no more than leave some for others. Read one page after the other.`,
          headers: comeBackAfter(FULL_WAIT_MS, random()),
        }),
      )
    readers.set(request, reader)
    change(reader, 1)
    done()
  })
  // Whatever is answered: who reads the answer slowly needs nothing of the store any more.
  api.addHook('onSend', (request, _, __, done) => {
    const reader = readers.get(request)
    if (reader !== undefined && readers.delete(request)) change(reader, -1)
    done()
  })
}
