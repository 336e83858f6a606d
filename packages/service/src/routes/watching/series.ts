import type { Problem } from '@secondwind/resilience'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { seenBy } from '../../access/caller.ts'
import { RESOLUTIONS, type Resolution } from '../../telemetry/series/series.ts'
import type { ApiContext } from '../context.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { callerOf } from '../requests/door.ts'
import { readNumbers } from '../requests/query.ts'
import { invalid } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { destinationField, instantField } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters, wordOf } from '../schemas/schema.ts'

interface SeriesRoute {
  readonly Querystring: {
    readonly destination?: string
    readonly resolution?: Resolution
    readonly from?: number
    readonly to?: number
  }
}

const QUERY = parameters({
  destination: Type.Optional(destinationField),
  resolution: Type.Optional(
    wordOf(RESOLUTIONS, { default: 'second', description: 'Seconds go back 15 minutes, minutes 24 hours.' }),
  ),
  from: Type.Optional(instantField('The first slot begins then, or later.')),
  to: Type.Optional(instantField('The last slot begins before.')),
})

/** What was sent where, slot by slot. */
export function addSeries(api: FastifyInstance, { live, orders }: ApiContext): void {
  api.get<SeriesRoute>(
    '/series',
    {
      preValidation: readNumbers(QUERY),
      schema: operation({
        operationId: 'getSeries',
        scope: 'read',
        summary:
          'Attempts, outcomes, tasks held and latency, second by second or minute by minute; of every tenant for an operator who names none',
        tags: ['watching'],
        querystring: QUERY,
        response: { 200: answer(component('Series'), 'Every slot that is over, the oldest first.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { destination: named, resolution = 'second', from, to } = request.query
      const caller = callerOf(request)
      const [destination, unknown] = readDestination({ at: 'destination', is: named }, caller, orders)
      const problems = [...unknown, ...problemsOfSpan(from, to)]
      if (problems.length > 0) throw invalid('query', problems)
      return reply.send(live.series.read({ ...seenBy(caller), destination, resolution, from, to }))
    },
  )
}

function problemsOfSpan(from: number | undefined, to: number | undefined): Problem[] {
  if (from === undefined || to === undefined || from < to) return []
  return [{ at: 'to', is: to, say: 'must be later than from' }]
}
