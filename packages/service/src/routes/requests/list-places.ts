import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { isList } from '../schemas/operation.ts'
import { holderOf } from './holder.ts'
import { ListLines } from './list-lines.ts'
import { Parts } from './parts.ts'
import { addRouteHooks } from './route-hooks.ts'
import { whenTaken } from './when-taken.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request that is for no list reads as much as one, and takes a place as one. */
    readonly readsMuch?: (request: FastifyRequest) => boolean
  }
}

const FULL_WAIT_MS = 1_000

/** Of others than lists: so few bytes, as often as they are sent ahead on a connection, are less than that itself takes. */
const SMALL_ANSWER_BYTES = 4_096

/**
 * Bounds how many lists are under way, and how many bytes of them and of every other answer: from when one is asked for,
 * the wait for its turn included, until its answer has been taken or its caller has gone. Both are shared as slots are: a
 * tenant takes nine times what it leaves free, so that there is some for the next; operators count as one more.
 *
 * Of those that have a place, a few of each reader are read; for a caller who has gone before that nothing is.
 */
export function boundLists(api: FastifyInstance, { limits, random }: Pick<ApiContext, 'limits' | 'random'>): void {
  const places = new Parts(limits.lists)
  const lines = new ListLines()
  const bytes = new Parts(limits.listBytes)
  const listing = new WeakSet<FastifyRequest>()
  const refuse = (detail: string): Refusal =>
    new Refusal('too-many-lists', { detail, headers: comeBackAfter(FULL_WAIT_MS, random()) })
  // Whoever has taken all that it asked for gets one answer, however large.
  const refuseBytes = (reader: string, size: number): Refusal | undefined =>
    bytes.of(reader) === 0 || bytes.hasRoom(reader, size)
      ? undefined
      : refuse(
          `${limits.listBytes} bytes of answers may be under way, and of one tenant no more than leave some for others. Take the answers that you have asked for.`,
        )

  addRouteHooks(api, ({ schema, config }) => {
    const takesPlace = isList(schema) ? () => true : config?.readsMuch
    if (takesPlace === undefined)
      return { preValidation: (request, _, done) => done(refuseBytes(holderOf(request.caller), 1)) }
    return {
      preHandler: (request, reply, done) => {
        const reader = holderOf(request.caller)
        if (!takesPlace(request)) return done(refuseBytes(reader, 1))
        if (!places.hasRoom(reader, 1))
          return done(
            refuse(
              `${limits.lists} lists may be under way, and of one tenant no more than leave some for others. Read one page after the other.`,
            ),
          )
        listing.add(request)
        places.take(reader, 1)
        const begin = (): void => done()
        if (lines.begins(reader, begin)) return done()
        // Nobody is there to be answered: it goes no further.
        whenTaken(reply, () => {
          if (lines.leave(reader, begin)) places.giveBack(reader, 1)
        })
      },
    }
  })

  api.addHook('onSend', (request, reply: FastifyReply, payload, done) => {
    const hasPlace = listing.has(request)
    const size = typeof payload === 'string' ? Buffer.byteLength(payload) : 0
    if (!hasPlace && size < SMALL_ANSWER_BYTES) return done(null, payload)
    const reader = holderOf(request.caller)
    // What was written is told, and a refusal is answered in any case.
    const refusal = request.method === 'GET' && reply.statusCode < 400 ? refuseBytes(reader, size) : undefined
    if (refusal !== undefined) return done(refusal)
    if (listing.delete(request)) lines.end(reader)
    bytes.take(reader, size)
    whenTaken(reply, () => {
      bytes.giveBack(reader, size)
      if (hasPlace) places.giveBack(reader, 1)
    })
    done(null, payload)
  })
}
