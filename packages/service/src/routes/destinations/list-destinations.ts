import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/caller.ts'
import { readNumbers } from '../requests/query.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { DEFAULT_PAGE, pageFields, type PageQuery } from '../schemas/fields.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { laneOf, laneOfAll } from '../../task/lane.ts'
import { destinationView } from './destination-view.ts'
import { placeOf } from './find-destination.ts'

const QUERY = parameters({ ...pageFields })

export function addDestinations(api: FastifyInstance, { store, dispatching, orders, clock, live }: ApiContext): void {
  api.get<{ Querystring: PageQuery }>(
    '/destinations',
    {
      preValidation: readNumbers(QUERY),
      schema: operation({
        operationId: 'listDestinations',
        scope: 'read',
        summary: 'Every destination that has had a task: its gates, its backlog, what retrying costs it',
        tags: ['destinations'],
        querystring: QUERY,
        response: { 200: answer(pageOf(component('Destination')), 'A page, in order of name.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const caller = callerOf(request)
      const { tenant } = caller
      const page = await store.laneCounters({ tenant, ...openCursor(cursor, { tenant }), limit })
      return reply.send({
        ...bindCursor(page, { tenant }),
        items: page.items.map(counters => {
          const { lane } = counters
          return destinationView({
            counters,
            view: dispatching.view(lane),
            series: live.series,
            own: orders.destination(placeOf(laneOf(lane).destination, caller).id),
            all: orders.destination(laneOfAll(lane)),
            now: clock.now(),
          })
        }),
      })
    },
  )
}
