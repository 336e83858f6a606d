import type { BatchItem } from '@secondwind/client'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { NewTask } from '../../task/accept.ts'
import { changeOf } from '../../task/task-change.ts'
import { problemDetails, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { askedPolicies } from '../policies/asked-policies.ts'
import { Batch, readBatches } from '../requests/batch-body.ts'
import { callerOf } from '../requests/door.ts'
import { inTurns } from '../requests/in-turns.ts'
import { notJson, readDocument, textOf } from '../requests/json-body.ts'
import { invalid, problemsOfShape, type ShapeError } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import { OTHER_WORDS } from '../schemas/task-input.ts'
import { enqueueTasks, type Or, type TakenTask } from './hand-over.ts'
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
      const ends = await enqueueTasks(read, context)
      for (const end of ends)
        if (!(end instanceof Refusal) && end.isNew)
          context.live.stream.taskChanged(end.task.tenant, () => changeOf(end.task))
      const items = ends.map((end, index) => itemView(end, index, request.id))
      return reply.send({ ...counts(items), items })
    },
  )
}

/** What a schema finds wrong is left at the function that looked. */
interface LookAtItem {
  (input: unknown): boolean
  readonly errors?: readonly ShapeError[] | null
}

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
      if (error instanceof Refusal) return error
      throw error
    }
  })
  if (body instanceof Batch && body.isList && read.some(isNotJson)) throw notJson()
  return read
}

function isNotJson(read: Or<NewTask>): boolean {
  return read instanceof Refusal && read.code === 'bad-json'
}

/** For one item. One answer tells those of a thousand items. */
const MOST_PROBLEMS = 20

function itemView(end: Or<TakenTask>, index: number, requestId: string): BatchItem {
  if (!(end instanceof Refusal)) return { index, result: end.isNew ? 'created' : 'existing', taskId: end.task.taskId }
  return { index, result: 'refused', problem: problemDetails(end, requestId, MOST_PROBLEMS) }
}

function counts(items: readonly BatchItem[]): { [result in BatchItem['result']]: number } {
  const sums = { created: 0, existing: 0, refused: 0 }
  for (const { result } of items) sums[result]++
  return sums
}
