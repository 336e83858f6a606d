import type { FastifyInstance, FastifyRequest } from 'fastify'
import { InvalidCursorError } from '../../stores/task-store.ts'
import type { ApiContext } from '../context.ts'
import type { PageQuery } from '../schemas/fields.ts'
import { isList } from '../schemas/operation.ts'
import { callerOf } from './caller.ts'

/** No list can forget it: every cursor that leaves is sealed for its tenant and its list, and only such a one comes in. */
export function sealCursors(api: FastifyInstance, { seal }: Pick<ApiContext, 'seal'>): void {
  api.addHook('preHandler', (request, _, done) => {
    const query = request.query as { -readonly [name in keyof PageQuery]: PageQuery[name] }
    if (query.cursor === undefined || !isList(request.routeOptions.schema)) return done()
    const cursor = seal.open(query.cursor, purposeOf(request))
    if (cursor === undefined) return done(new InvalidCursorError('this list and filter'))
    query.cursor = cursor
    done()
  })
  api.addHook('preSerialization', (request, _, answer: { readonly nextCursor?: string } | null, done) => {
    const { nextCursor } = answer ?? {}
    if (nextCursor === undefined || !isList(request.routeOptions.schema)) return done(null, answer)
    done(null, { ...answer, nextCursor: seal.seal(nextCursor, purposeOf(request)) })
  })
}

function purposeOf(request: FastifyRequest): string {
  return `cursor ${callerOf(request).tenant} ${request.routeOptions.url}`
}
