import type { FastifyInstance } from 'fastify'
import type { LaneCounters } from '../stores/task-store.ts'
import type { LaneView } from '../task/lane-view.ts'
import { laneOf } from '../task/lane.ts'
import type { ApiContext } from './context.ts'
import { callerOf } from './requests/caller.ts'
import { readNumbers } from './requests/query.ts'
import { answer, refusals, type ShownDestination } from './schemas/answers.ts'
import { operation } from './schemas/operation.ts'
import { DEFAULT_PAGE, pageFields, type PageQuery } from './schemas/fields.ts'
import { component, pageOf, parameters } from './schemas/schema.ts'

const QUERY = parameters({ ...pageFields })

export function addDestinations(api: FastifyInstance, { store, dispatching }: ApiContext): void {
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
      const { tenant } = callerOf(request)
      const page = await store.laneCounters({ tenant, ...(cursor !== undefined && { cursor }), limit })
      return reply.send({
        ...page,
        items: page.items.map(counters => destinationView(counters, dispatching.view(counters.lane))),
      })
    },
  )
}

function destinationView(counters: LaneCounters, view: LaneView | undefined): ShownDestination {
  const { lane, pending, inFlight, succeeded, exhausted, cancelled, attempts, firstAttempts } = counters
  return {
    destination: laneOf(lane).destination,
    ...(view !== undefined && gatesOf(view)),
    // The instance that serves it hears a little late that the last one was cancelled.
    ...(view?.oldestDueAt !== undefined && pending > 0 && { oldestDueAt: view.oldestDueAt }),
    inFlight,
    backlog: pending,
    succeeded,
    exhausted,
    cancelled,
    attempts,
    retryShare: attempts === 0 ? 0 : (attempts - firstAttempts) / attempts,
    // Of tasks that were handed over nobody here has seen the first attempt.
    ...(firstAttempts > 0 && { amplification: attempts / firstAttempts }),
  }
}

function gatesOf({ breaker, hold, retryHold, limit, budgetBalance }: LaneView): Partial<ShownDestination> {
  return {
    breaker,
    ...(hold !== undefined && { hold }),
    ...(retryHold !== undefined && { retryHold }),
    // JSON knows no infinity: without a limit there is nothing to show.
    ...(Number.isFinite(limit) && { limit }),
    ...(Number.isFinite(budgetBalance) && { budgetBalance }),
  }
}
