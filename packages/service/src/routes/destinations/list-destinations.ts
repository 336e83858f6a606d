import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ownerOf, type Caller } from '../../access/caller.ts'
import { cursorOf } from '../../stores/cursor.ts'
import type { LaneCounters, Page, PageAsk } from '../../stores/task-store.ts'
import { settingsAt } from '../../task/destination-settings.ts'
import { laneOf, laneOfAll } from '../../task/lane.ts'
import type { ApiContext } from '../context.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/caller.ts'
import { readFlags, readNumbers } from '../requests/query.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { DEFAULT_PAGE, pageFields, type PageQuery } from '../schemas/fields.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { countersOf, destinationView } from './destination-view.ts'
import { placeOf } from './find-destination.ts'

const QUERY = parameters({
  ...pageFields,
  hasSettings: Type.Optional(
    Type.Literal(true, {
      'x-takes': 'true, or left out',
      description: 'Instead, those that you have set something for: with or without a task.',
    }),
  ),
})

export function addDestinations(api: FastifyInstance, context: ApiContext): void {
  const { storeFor, dispatching, orders, clock, live } = context

  api.get<{ Querystring: PageQuery & { readonly hasSettings?: true } }>(
    '/destinations',
    {
      preValidation: [readNumbers(QUERY), readFlags(QUERY)],
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
      const { cursor, limit = DEFAULT_PAGE, hasSettings } = request.query
      const caller = callerOf(request)
      const { tenant } = caller
      const asked = hasSettings ? { owner: ownerOf(caller), hasSettings } : { tenant }
      const ask = { ...openCursor(cursor, asked), limit }
      const page = await (hasSettings
        ? lanesWithSettings(ask, caller, context)
        : storeFor(caller).laneCounters({ tenant, ...ask }))
      return reply.send({
        ...bindCursor(page, asked),
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

const CURSOR = cursorOf('settings', 'string')

/** By the caller's own records alone: those of others, an operator's for all among them, tell which hosts others use. */
async function lanesWithSettings(
  { cursor, limit }: PageAsk,
  caller: Caller,
  { storeFor, orders, clock }: ApiContext,
): Promise<Page<LaneCounters>> {
  const [last = ''] = cursor === undefined ? [] : CURSOR.read(cursor)
  const [owner, now] = [ownerOf(caller), clock.now()]
  const left = [...orders.destinations]
    // A record outlives the last thing that was set in it.
    .filter(({ settings }) => Object.keys(settingsAt(settings, now)).length > 0)
    .map(({ lane }) => laneOf(lane))
    .filter(({ tenant, destination }) => tenant === owner && destination > last)
    .map(({ destination }) => destination)
    .toSorted()
  const [shown, store] = [left.slice(0, limit), storeFor(caller)]
  return {
    items: await Promise.all(shown.map(destination => countersOf(placeOf(destination, caller).lane, store))),
    ...(left.length > limit && { nextCursor: CURSOR.write([shown.at(-1)!]) }),
  }
}
