import type { RetryTask } from '@secondwind/client'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { seenBy } from '../../access/caller.ts'
import type { ListedTask, Page, TaskFilter } from '../../stores/store.ts'
import { redactHeaders, taskView } from './task-view.ts'
import type { ApiContext } from '../context.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { callerOf } from '../requests/door.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { readNumbers } from '../requests/query.ts'
import { problemsOfRanges } from '../requests/ranges.ts'
import { invalid } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import {
  DEFAULT_PAGE,
  destinationField,
  instantField,
  pageFields,
  policyIdField,
  statusField,
  taskIdField,
  type PageQuery,
} from '../schemas/fields.ts'
import { idempotencyKeyField } from '../schemas/task-input.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { ownTask } from './one-task.ts'
import { tasksByKey } from './tasks-by-key.ts'

type TaskQuery = PageQuery & Omit<TaskFilter, 'tenant' | 'reason' | 'causeId'>

const TASK_QUERY = parameters({
  status: Type.Optional(statusField),
  destination: Type.Optional(destinationField),
  policyId: Type.Optional(policyIdField),
  idempotencyKey: Type.Optional(idempotencyKeyField('The task that has this key; its `taskId` where none was given.')),
  attemptFrom: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'At least so many attempts made.' }),
  ),
  errorCode: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Of the newest attempt.' })),
  createdFrom: Type.Optional(instantField('Accepted at this instant or later.')),
  createdTo: Type.Optional(instantField('Accepted before this instant.')),
  endedFrom: Type.Optional(instantField('Dead letters: given up at this instant or later.')),
  endedTo: Type.Optional(instantField('Dead letters: given up before this instant.')),
  ...pageFields,
})

const PAGE_QUERY = parameters({ ...pageFields })

export function addTaskLists(api: FastifyInstance, context: ApiContext): void {
  const { store, orders } = context

  api.get<{ Querystring: TaskQuery }>(
    '/retry-tasks',
    {
      preValidation: readNumbers(TASK_QUERY),
      schema: operation({
        operationId: 'listTasks',
        scope: 'read',
        summary:
          'Tasks, the newest first, dead letters the latest death first; of every tenant for an operator who names none',
        tags: ['tasks'],
        querystring: TASK_QUERY,
        response: {
          200: answer(pageOf(component('RetryTask')), 'A page; it may be short, or empty, and still have a next one.'),
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE, destination: named, ...query } = request.query
      const isOfDead = query.endedFrom !== undefined || query.endedTo !== undefined
      const filter = isOfDead ? { status: 'EXHAUSTED' as const, ...query } : query
      const caller = callerOf(request)
      const [destination, unknown] = readDestination({ at: 'destination', is: named }, caller, orders)
      const problems = [...unknown, ...problemsOfRanges(filter)]
      if (problems.length > 0) throw invalid('query', problems)
      const asked = { ...filter, ...(destination !== undefined && { destination }), ...seenBy(caller) }
      const ask = { filter: asked, limit, ...openCursor(cursor, asked) }
      const isOfAllTenants = asked.idempotencyKey !== undefined && !('tenant' in asked)
      const page = await (isOfAllTenants ? tasksByKey(ask, context) : store.list({ ...ask, order: 'newest-first' }))
      return reply.send(taskPage(bindCursor(page, asked), context))
    },
  )

  api.get<{ Params: { taskId: string }; Querystring: PageQuery }>(
    '/retry-tasks/:taskId/attempts',
    {
      preValidation: readNumbers(PAGE_QUERY),
      schema: operation({
        operationId: 'listAttempts',
        scope: 'read',
        summary: 'The attempts of a task, of all its generations',
        tags: ['tasks'],
        params: parameters({ taskId: taskIdField }),
        querystring: PAGE_QUERY,
        response: { 200: answer(pageOf(component('Attempt')), 'A page.'), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      const { taskId } = await ownTask(request, context)
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const caller = callerOf(request)
      const page = await store.attempts({ taskId, ...openCursor(cursor, { taskId }), limit })
      const { items, ...next } = bindCursor(page, { taskId })
      const maySee = caller.scopes.has('read-bodies')
      return reply.send({
        items: items.map(({ response, ...attempt }) => ({
          ...attempt,
          ...(response && maySee && { response: { ...response, headers: redactHeaders(response.headers) } }),
        })),
        ...next,
      })
    },
  )
}

export function taskPage({ items, nextCursor }: Page<ListedTask>, context: ApiContext): Page<RetryTask> {
  return { items: items.map(task => taskView(task, context)), ...(nextCursor !== undefined && { nextCursor }) }
}
