import type { BatchItem } from '@secondwind/client'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import type { NewTask } from '../../task/accept.ts'
import { changeOf } from '../../task/task-change.ts'
import { problemDetails, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { askedPolicies } from '../policies/asked-policies.ts'
import { Batch, readBatches } from '../requests/batch-body.ts'
import { callerOf } from '../requests/caller.ts'
import { inTurns } from '../requests/in-turns.ts'
import { notJson, readDocument, textOf } from '../requests/json-body.ts'
import { problemsOfShape, type ShapeError } from '../requests/shape.ts'
import { invalid } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import { OTHER_WORDS } from '../schemas/task-input.ts'
import { enqueueTasks } from './enqueue-tasks.ts'
import { taken } from './enqueued.ts'
import { readTask, type Intake } from './intake.ts'

const TASK = component('RetryTaskInput')
const TASKS = Type.Array(TASK, { minItems: 1 })

export function addSubmitBatch(api: FastifyInstance, context: ApiContext, intake: Intake): void {
  const { limits } = context
  readBatches(api, limits.batchItems)
  api.post(
    '/retry-tasks/batch',
    {
      bodyLimit: limits.batchBytes,
      // Items are looked at one by one, further down: all of them together would keep everybody else waiting.
      validatorCompiler: ({ schema, httpPart, ...route }) =>
        httpPart === 'body' ? () => true : api.validatorCompiler!({ schema, ...(httpPart && { httpPart }), ...route }),
      schema: operation({
        operationId: 'submitBatch',
        scope: 'enqueue',
        summary: 'Hand over many requests: each has a result of its own',
        tags: ['tasks'],
        querystring: parameters({}),
        body: { content: { 'application/json': { schema: TASKS }, 'application/x-ndjson': { schema: TASKS } } },
        response: {
          200: answer(component('BatchResult'), 'What became of each of them; what was created is durable.'),
          ...refusals(408, 413, 415, 431),
        },
      }),
    },
    async (request, reply) => {
      intake.limit(callerOf(request).tenant)
      if (request.headers['idempotency-key'] !== undefined)
        throw new Refusal('invalid-request', { detail: 'A batch takes no Idempotency-Key: each item has its own.' })
      const look = request.compileValidationSchema(TASK) as LookAtItem
      const read = await readItems(request, look, context, intake)
      const items = (await enqueueAll(read, callerOf(request), context)).map((end, index) =>
        itemView(end, index, request.id),
      )
      return reply.send({ ...counts(items), items })
    },
  )
}

/** What a schema finds wrong is left at the function that looked. */
interface LookAtItem {
  (input: unknown): boolean
  readonly errors?: readonly ShapeError[] | null
}

/** A refusal takes the place of what it refuses. */
type Or<End> = End | Refusal

async function readItems(
  request: FastifyRequest,
  look: LookAtItem,
  context: ApiContext,
  intake: Intake,
): Promise<Or<NewTask>[]> {
  const { body } = request
  const items = body instanceof Batch ? body.items : []
  if (items.length === 0)
    throw invalid('body', [
      { at: '', is: body instanceof Batch ? [] : body, say: 'must be a list of at least one task' },
    ])
  const { tenant, actor } = callerOf(request)
  const { readTargetUrl } = intake
  const policies = askedPolicies(intake.policies, tenant)
  const read = await inTurns(items, async (item): Promise<Or<NewTask>> => {
    try {
      const input = readDocument(typeof item === 'string' ? item : textOf(item))
      const errors = look(input) ? [] : (look.errors ?? [])
      const shape = problemsOfShape(errors, { kind: 'field', others: OTHER_WORDS })
      return await readTask({ tenant, actor, input, shape, policies, readTargetUrl }, context)
    } catch (error) {
      return refusalOnly(error)
    }
  })
  if (body instanceof Batch && body.isList && read.some(isNotJson)) throw notJson()
  return read
}

function isNotJson(read: Or<NewTask>): boolean {
  return read instanceof Refusal && read.code === 'bad-json'
}

interface Kept {
  readonly taskId: string
  readonly isNew: boolean
}

async function enqueueAll(read: readonly Or<NewTask>[], caller: Caller, context: ApiContext): Promise<Or<Kept>[]> {
  const { random, live } = context
  const tasks = read.filter((each): each is NewTask => !(each instanceof Refusal))
  const ends = tasks.length === 0 ? [] : await enqueueTasks(tasks, caller, context)
  let next = 0
  return read.map(each => {
    if (each instanceof Refusal) return each
    try {
      const end = ends[next++]!
      const { task, isNew } = taken(end.task, end.enqueued, random)
      if (isNew) live.stream.taskChanged(task.tenant, () => changeOf(task))
      return { taskId: task.taskId, isNew }
    } catch (error) {
      return refusalOnly(error)
    }
  })
}

function refusalOnly(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  throw error
}

/** Of one item; a thousand of them are told in one answer. */
const MOST_PROBLEMS = 20

function itemView(end: Or<Kept>, index: number, requestId: string): BatchItem {
  if (!(end instanceof Refusal)) return { index, result: end.isNew ? 'created' : 'existing', taskId: end.taskId }
  return { index, result: 'refused', problem: problemDetails(end, requestId, MOST_PROBLEMS) }
}

function counts(items: readonly BatchItem[]): { [result in BatchItem['result']]: number } {
  const sums = { created: 0, existing: 0, refused: 0 }
  for (const { result } of items) sums[result]++
  return sums
}
