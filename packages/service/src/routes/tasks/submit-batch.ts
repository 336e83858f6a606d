import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { NewTask } from '../../task/accept.ts'
import { problemDetails, Refusal } from '../answers/refusal.ts'
import { tenantOf, type ApiContext } from '../context.ts'
import { BadLine, readLines, tooManyItems } from '../requests/json-body.ts'
import { problemsOfShape, type ShapeError } from '../requests/shape.ts'
import { bodyErrors, refusalOfShape } from '../requests/validation.ts'
import { answer, refusals, type BatchItem } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import { OTHER_WORDS } from '../schemas/task-input.ts'
import { taken } from './enqueued.ts'
import { readTask, type Intake } from './intake.ts'

const TASKS = Type.Array(component('RetryTaskInput'), { minItems: 1, 'x-takes': 'a list of at least one task' })

export function addSubmitBatch(api: FastifyInstance, context: ApiContext, intake: Intake): void {
  const { limits } = context
  readLines(api, limits.batchItems)
  api.post(
    '/retry-tasks/batch',
    {
      attachValidation: true,
      bodyLimit: limits.batchBytes,
      // Before the schema looks at each of them.
      preValidation: (request, _, done) => done(tooMany(request.body, limits.batchItems)),
      schema: operation({
        operationId: 'submitBatch',
        summary: 'Hand over many requests: each has a result of its own',
        tags: ['tasks'],
        querystring: parameters({}),
        body: { content: { 'application/json': { schema: TASKS }, 'application/x-ndjson': { schema: TASKS } } },
        response: {
          200: answer(component('BatchResult'), 'What became of each of them; what was created is durable.'),
          ...refusals(408, 413, 415, 429, 431),
        },
      }),
    },
    async (request, reply) => {
      intake.limit()
      if (request.headers['idempotency-key'] !== undefined)
        throw new Refusal('invalid-request', { detail: 'A batch takes no Idempotency-Key: each item has its own.' })
      const tenant = tenantOf(request)
      const read = await Promise.all(
        itemsOf(request.body, bodyErrors(request)).map(item => readItem(item, tenant, context, intake)),
      )
      const items = (await enqueueAll(read, context)).map((end, index) => itemView(end, index, request.id))
      return reply.send({ ...counts(items), items })
    },
  )
}

function tooMany(body: unknown, most: number): Refusal | undefined {
  return Array.isArray(body) && body.length > most ? tooManyItems(String(body.length), most) : undefined
}

interface Item {
  readonly input: unknown
  /** What the schema found wrong in it. */
  readonly errors: readonly ShapeError[]
}

/** Each with its own errors; what is wrong with the whole is thrown. */
function itemsOf(body: unknown, errors: readonly ShapeError[]): Item[] {
  if (!Array.isArray(body) || body.length === 0) throw refusalOfShape({ validation: errors as never })
  const found: ShapeError[][] = body.map(() => [])
  for (const error of errors) found[Number(error.instancePath.split('/', 2)[1])]!.push(withoutIndex(error))
  return body.map((input: unknown, index) => ({ input, errors: found[index]! }))
}

function withoutIndex(error: ShapeError): ShapeError {
  return { ...error, instancePath: error.instancePath.replace(/^\/\d+/, '') }
}

/** A refusal takes the place of what it refuses. */
type Or<End> = End | Refusal

async function readItem(
  { input, errors }: Item,
  tenant: string,
  context: ApiContext,
  { policies }: Intake,
): Promise<Or<NewTask>> {
  if (input instanceof BadLine) return input.refusal
  const shape = problemsOfShape(errors, { kind: 'field', others: OTHER_WORDS })
  return readTask({ tenant, input, shape }, context, policies).catch(refusalOnly)
}

interface Kept {
  readonly taskId: string
  readonly isNew: boolean
}

async function enqueueAll(read: readonly Or<NewTask>[], { store, limits, random }: ApiContext): Promise<Or<Kept>[]> {
  const tasks = read.filter((each): each is NewTask => !(each instanceof Refusal))
  const results = tasks.length === 0 ? [] : (await store.enqueue(tasks, limits.backlog)).results
  let next = 0
  return read.map(each => {
    if (each instanceof Refusal) return each
    try {
      const { task, isNew } = taken(each, results[next++]!, random)
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

function itemView(end: Or<Kept>, index: number, requestId: string): BatchItem {
  if (!(end instanceof Refusal)) return { index, result: end.isNew ? 'created' : 'existing', taskId: end.taskId }
  return { index, result: 'refused', problem: problemDetails(end, requestId) }
}

function counts(items: readonly BatchItem[]): { [result in BatchItem['result']]: number } {
  const sums = { created: 0, existing: 0, refused: 0 }
  for (const { result } of items) sums[result]++
  return sums
}
