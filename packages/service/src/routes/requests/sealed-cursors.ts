import type { FastifyInstance, FastifyRequest } from 'fastify'
import { InvalidCursorError } from '../../stores/task-store.ts'
import type { ApiContext } from '../context.ts'
import type { PageQuery } from '../schemas/fields.ts'
import { isList } from '../schemas/operation.ts'
import { callerOf } from './caller.ts'
import { addRouteHooks, type RouteHooks } from './route-hooks.ts'

/** No list can forget it: every cursor that leaves is sealed for its tenant and its list, and only such a one comes in. */
export function sealCursors(api: FastifyInstance, { seal }: Pick<ApiContext, 'seal'>): void {
  const sealing: RouteHooks = {
    preHandler: (request, _, done) => {
      const query = request.query as { -readonly [name in keyof PageQuery]: PageQuery[name] }
      if (query.cursor === undefined) return done()
      const cursor = seal.open(query.cursor, purposeOf(request))
      if (cursor === undefined) return done(new InvalidCursorError('this list and filter'))
      query.cursor = cursor
      done()
    },
    preSerialization: (request, _, answer, done) => {
      const { nextCursor } = (answer ?? {}) as { readonly nextCursor?: string }
      if (nextCursor === undefined) return done(null, answer)
      done(null, { ...(answer as object), nextCursor: seal.seal(nextCursor, purposeOf(request)) })
    },
  }
  addRouteHooks(api, ({ schema }) => (isList(schema) ? sealing : {}))
}

function purposeOf(request: FastifyRequest): string {
  return `cursor ${callerOf(request).tenant} ${request.routeOptions.url}`
}
