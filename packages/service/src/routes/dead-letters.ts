import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { seenBy } from '../access/caller.ts'
import type { ApiContext } from './context.ts'
import { readDestination } from './destinations/find-destination.ts'
import { bindCursor, openCursor } from './requests/bound-cursor.ts'
import { callerOf } from './requests/door.ts'
import { readNumbers } from './requests/query.ts'
import { invalid } from './requests/validation.ts'
import { answer, refusals } from './schemas/answers.ts'
import { operation } from './schemas/operation.ts'
import { DEFAULT_PAGE, destinationField, pageFields, type PageQuery } from './schemas/fields.ts'
import { component, pageOf, parameters, wordOf } from './schemas/schema.ts'
import { taskPage } from './tasks/lists.ts'

interface DeadLetterQuery extends PageQuery {
  readonly group?: 'cause' | 'none'
  readonly causeId?: string
  readonly destination?: string
}

const QUERY = parameters({
  group: Type.Optional(
    wordOf(['cause', 'none'], { default: 'cause', description: '`none` lists the tasks themselves.' }),
  ),
  causeId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'The tasks of one cause; they are listed, not grouped.' }),
  ),
  destination: Type.Optional(destinationField),
  ...pageFields,
})

/** `EXHAUSTED` tasks: what they died of, or which they are. */
export function addDeadLetters(api: FastifyInstance, context: ApiContext): void {
  const { store, orders } = context
  api.get<{ Querystring: DeadLetterQuery }>(
    '/dead-letters',
    {
      preValidation: readNumbers(QUERY),
      // Two kinds of pages have no common serializer.
      serializerCompiler: () => JSON.stringify,
      schema: operation({
        operationId: 'listDeadLetters',
        scope: 'read',
        summary:
          'Dead letters by cause, the most numerous first; or one by one, the latest death first; of every tenant for an operator who names none',
        tags: ['dead letters'],
        querystring: QUERY,
        response: {
          200: answer(Type.Union([pageOf(component('Cause')), pageOf(component('RetryTask'))]), 'A page.'),
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      const { causeId, destination: named, cursor, limit = DEFAULT_PAGE } = request.query
      const { group = causeId === undefined ? 'cause' : 'none' } = request.query
      const caller = callerOf(request)
      const [destination, problems] = readDestination({ at: 'destination', is: named }, caller, orders)
      if (problems.length > 0) throw invalid('query', problems)
      const place = { ...seenBy(caller), ...(destination !== undefined && { destination }) }
      if (group === 'cause') {
        if (causeId !== undefined)
          throw invalid('query', [{ at: 'causeId', is: causeId, say: 'lists the tasks of a cause: leave group out' }])
        const causes = await store.causes({ ...place, limit, ...openCursor(cursor, place) })
        return reply.send(bindCursor(causes, place))
      }
      const filter = { status: 'EXHAUSTED', ...place, ...(causeId !== undefined && { causeId }) } as const
      const tasks = await store.list({ filter, order: 'newest-first', limit, ...openCursor(cursor, filter) })
      return reply.send(taskPage(bindCursor(tasks, filter), context))
    },
  )
}
