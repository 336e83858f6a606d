import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EVERY_TENANT } from '../../task/lane.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isList } from '../schemas/operation.ts'
import { callerOf } from './caller.ts'
import { Parts } from './parts.ts'
import { whenTaken } from './when-taken.ts'

const FULL_WAIT_MS = 1_000

/**
 * Bounds how many lists are under way, and how many bytes of them: from when one is asked for, the wait for its turn
 * included, until its answer has been taken or its caller has gone. Both are shared as slots are: a tenant takes nine
 * times what it leaves free, so that there is some for the next; operators count as one more.
 */
export function boundLists(api: FastifyInstance, { limits, random }: Pick<ApiContext, 'limits' | 'random'>): void {
  const places = new Parts(limits.lists)
  const bytes = new Parts(limits.listBytes)
  const readers = new WeakMap<FastifyRequest, string>()
  const refuse = (detail: string): Refusal =>
    new Refusal('too-many-lists', { detail, headers: comeBackAfter(FULL_WAIT_MS, random()) })

  api.addHook('preHandler', (request, _, done) => {
    if (!isList(request.routeOptions.schema)) return done()
    const { tenant, isOperator } = callerOf(request)
    const reader = isOperator ? EVERY_TENANT : tenant
    if (!places.hasRoom(reader, 1))
      return done(
        refuse(
          `${limits.lists} lists may be under way, and of one tenant no more than leave some for others. Read one page after the other.`,
        ),
      )
    readers.set(request, reader)
    places.take(reader, 1)
    done()
  })

  api.addHook('onSend', (request, reply: FastifyReply, payload, done) => {
    const reader = readers.get(request)
    if (reader === undefined) return done(null, payload)
    const size = typeof payload === 'string' ? Buffer.byteLength(payload) : 0
    // Whoever has taken all that it asked for gets one page, however large; a refusal is answered in any case.
    if (reply.statusCode < 400 && bytes.of(reader) > 0 && !bytes.hasRoom(reader, size))
      return done(
        refuse(
          `${limits.listBytes} bytes of lists may be under way, and of one tenant no more than leave some for others. Take the answers that you have asked for.`,
        ),
      )
    readers.delete(request)
    bytes.take(reader, size)
    whenTaken(reply, () => {
      bytes.giveBack(reader, size)
      places.giveBack(reader, 1)
    })
    done(null, payload)
  })
}
