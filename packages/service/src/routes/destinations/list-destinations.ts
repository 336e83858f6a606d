import type { Destination } from '@secondwind/client'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ownerOf, seenBy, type Caller } from '../../access/caller.ts'
import { cursorOf } from '../../stores/cursor.ts'
import type { Page, PageAsk } from '../../stores/store.ts'
import { settingsAt } from '../../task/destination-settings.ts'
import { laneKey, laneOf, laneOfAll } from '../../task/lane.ts'
import type { ApiContext } from '../context.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { readFlags, readNumbers } from '../requests/query.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { DEFAULT_PAGE, pageFields, type PageQuery } from '../schemas/fields.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { destinationView, type Records } from './destination-view.ts'
import { lanesTo, shownWith } from './show-destination.ts'

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
  api.get<{ Querystring: PageQuery & { readonly hasSettings?: true } }>(
    '/destinations',
    {
      preValidation: [readNumbers(QUERY), readFlags(QUERY)],
      schema: operation({
        operationId: 'listDestinations',
        scope: 'read',
        summary:
          'Every destination that has had a task: its gates, its backlog, what retrying costs it; of every tenant for an operator who names none',
        tags: ['destinations'],
        querystring: QUERY,
        response: {
          200: answer(
            pageOf(component('Destination')),
            'A page, in order of name; for an operator who names no tenant, of tenant and name.',
          ),
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE, hasSettings } = request.query
      const caller = callerOf(request)
      const asked = hasSettings ? { owner: ownerOf(caller), hasSettings } : seenBy(caller)
      const ask = { ...openCursor(cursor, asked), limit }
      const page = await (hasSettings ? withSettings(ask, caller, context) : withTasks(ask, caller, context))
      return reply.send(bindCursor(page, asked))
    },
  )
}

/** In order of tenant, then of name. */
async function withTasks(ask: PageAsk, caller: Caller, context: ApiContext): Promise<Page<Destination>> {
  const { items, ...next } = await context.store.lanes({ ...seenBy(caller), ...ask })
  return { ...next, items: items.map(counters => destinationView(counters, caller, context)) }
}

const CURSOR = cursorOf('settings', 'string')

/** Each costs a step for every tenant, where those of all are shown. */
const MOST_OF_ALL = 20

/** By the caller's own records alone: those of others, an operator's for all among them, tell which hosts others use. */
async function withSettings(
  { cursor, limit }: PageAsk,
  caller: Caller,
  context: ApiContext,
): Promise<Page<Destination>> {
  const { orders, clock, store } = context
  const [last = ''] = cursor === undefined ? [] : CURSOR.read(cursor)
  const [owner, now] = [ownerOf(caller), clock.now()]
  const left = [...orders.destinations]
    .map(({ lane, settings }) => ({ ...laneOf(lane), settings }))
    .filter(({ tenant, destination }) => tenant === owner && destination > last)
    // A record outlives the last thing that was set in it.
    .filter(({ settings }) => Object.keys(settingsAt(settings, now)).length > 0)
    .map(({ destination }) => destination)
    .toSorted()
  const shown = left.slice(0, caller.isForAll ? Math.min(limit, MOST_OF_ALL) : limit)
  const lanes = await lanesTo(shown, caller, store)
  const recordsOf = (destination: string): Records => {
    const lane = laneKey({ tenant: owner, destination })
    return { own: orders.destination(lane), all: orders.destination(laneOfAll(lane)) }
  }
  return {
    items: shown.map(destination =>
      shownWith({ destination, lanes: lanes.get(destination)!, records: recordsOf(destination) }, caller, context),
    ),
    ...(left.length > shown.length && { nextCursor: CURSOR.write([shown.at(-1)!]) }),
  }
}
