import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { seenBy } from '../../access/caller.ts'
import { neededForTask } from '../../bodies/needed-until.ts'
import type { PolicyBook } from '../../policies/policy-book.ts'
import type { Change, Changed } from '../../stores/store.ts'
import { replayed } from '../../task/accept.ts'
import type { Task, TaskStatus } from '../../task/task.ts'
import { changeOf } from '../../task/task-change.ts'
import type { TaskOperated } from '../../telemetry/events.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, ifVersionAsked, otherVersion } from '../requests/if-match.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { reasonField, taskIdField } from '../schemas/fields.ts'
import { component, parameters } from '../schemas/schema.ts'
import { noRoomToReplay } from './hand-over.ts'
import { explanationOf, taskView } from './task-view.ts'

interface TaskRoute {
  readonly Params: { readonly taskId: string }
}

interface OperatedRoute extends TaskRoute {
  readonly Querystring: { readonly reason?: string }
}

const ASKED = { tags: ['tasks'], params: parameters({ taskId: taskIdField }), querystring: parameters({}) } as const
/** What changes a task leaves a line in the audit. */
const OPERATED = {
  ...ASKED,
  querystring: parameters({ reason: Type.Optional(reasonField) }),
  headers: IF_MATCH,
} as const
const TASK = component('RetryTask')
const WITH_VERSION = { etag: 'Its version.' }

/** What can be asked of, and done with, a single task. */
export function addOneTask(api: FastifyInstance, context: ApiContext, policies: PolicyBook): void {
  const { store, dispatching } = context

  api.get<TaskRoute>(
    '/retry-tasks/:taskId',
    {
      schema: operation({
        ...ASKED,
        operationId: 'getTask',
        scope: 'read',
        summary: 'What a task is now, and why it waits',
        response: { 200: answer(TASK, 'The task.', WITH_VERSION), ...refusals(404) },
      }),
    },
    async (request, reply) => sendTask(reply, await ownTask(request, context), context),
  )

  api.delete<OperatedRoute>(
    '/retry-tasks/:taskId',
    {
      schema: operation({
        ...OPERATED,
        operationId: 'cancelTask',
        scope: 'operate',
        summary: 'Cancel it',
        response: {
          200: answer(TASK, 'It is cancelled.', WITH_VERSION),
          202: answer(TASK, 'It is under way: its request is cut off, and unless it succeeded it ends.', WITH_VERSION),
          ...refusals(404, 409, 412),
        },
      }),
    },
    async (request, reply) => {
      const own = await ownTask(request, context)
      const { taskId } = own
      const task = changed(
        await store.cancel(taskId, operating(request, 'task.cancel', own)),
        taskId,
        'A task that has ended cannot be cancelled.',
      )
      if (task.state.status === 'IN_FLIGHT') {
        dispatching.cut(taskId)
        void reply.code(202)
      }
      return sendChanged(reply, { task, verb: 'cancel' }, context)
    },
  )

  api.post<OperatedRoute>(
    '/retry-tasks/:taskId/attempt-now',
    {
      schema: operation({
        ...OPERATED,
        operationId: 'attemptNow',
        scope: 'operate',
        summary: 'Make the next attempt now, before all others of its destination',
        response: {
          200: answer(TASK, 'It is due. A closed gate still holds it, and `waits` says so.', WITH_VERSION),
          ...refusals(404, 409, 412),
        },
      }),
    },
    async (request, reply) => {
      const own = await ownTask(request, context)
      const { taskId } = own
      const task = changed(
        await store.attemptNow(taskId, operating(request, 'task.attempt-now', own)),
        taskId,
        'Only a PENDING task has a next attempt.',
      )
      return sendChanged(reply, { task, verb: 'attempt-now' }, context)
    },
  )

  api.post<OperatedRoute>(
    '/retry-tasks/:taskId/replay',
    {
      schema: operation({
        ...OPERATED,
        operationId: 'replayTask',
        scope: 'operate',
        summary: 'Begin again with a dead letter: attempts from 0, time from now',
        response: { 200: answer(TASK, 'Its next generation.', WITH_VERSION), ...refusals(404, 409, 412) },
      }),
    },
    async (request, reply) => {
      const dead = await ownTask(request, context)
      const asked = operating(request, 'task.replay', dead)
      const task = await replay(dead, { context, policies }, asked)
      return sendChanged(reply, { task, verb: 'replay' }, context)
    },
  )

  api.get<TaskRoute>(
    '/retry-tasks/:taskId/explain',
    {
      schema: operation({
        ...ASKED,
        operationId: 'explainTask',
        scope: 'read',
        summary: 'Why it waits, until when, and for which gate',
        response: { 200: answer(component('Explanation'), 'In a sentence.'), ...refusals(404) },
      }),
    },
    async (request, reply) => reply.send(explanationOf(await ownTask(request, context), context)),
  )
}

/** The task of the path. A caller never learns whether a task of another tenant exists. */
export async function ownTask(request: FastifyRequest, { store }: ApiContext): Promise<Task> {
  const { taskId } = request.params as TaskRoute['Params']
  const [task] = await store.get([taskId])
  const { tenant = task?.tenant } = seenBy(callerOf(request))
  if (task === undefined || task.tenant !== tenant) throw unknownTask(taskId)
  return task
}

/** The audit line belongs to the tenant of the task, so that it can read what an operator did to it. */
function operating(request: FastifyRequest<OperatedRoute>, action: string, { tenant }: Task): Change {
  const { taskId: subject } = request.params
  const audit = lineBy(callerOf(request), { tenant, action, subject, reason: request.query.reason })
  return { audit, ...ifVersionAsked(request) }
}

interface Replaying {
  readonly context: ApiContext
  readonly policies: PolicyBook
}

async function replay(dead: Task, { context, policies }: Replaying, asked: Change): Promise<Task> {
  const { taskId, tenant, policyId, policyVersion, progress, state, version, request } = dead
  const { backlog, store, clock, random } = context
  if (version !== (asked.ifVersion ?? version)) throw otherVersion(version)
  if (state.status !== 'EXHAUSTED') throw wrongStatus(dead, DEAD_ONLY)
  const document = dead.policy ?? (await policies.documentOf(dead, policyVersion))
  if (document === undefined) throw new Error(`version ${policyVersion} of the policy ${policyId} is lost`)
  if (backlog.verdict(dead) !== undefined) throw noRoomToReplay(dead, random)
  backlog.taken(dead)
  const next = replayed(dead, document, clock.now())
  if (request.storedBody !== undefined)
    await store.bodies([{ tenant, bodyRef: request.storedBody.bodyRef }], neededForTask(next))
  const { results } = await store.replay([{ taskId, generation: progress.generation, progress: next }], asked)
  const [result] = results
  assert(result !== undefined, 'the one task is answered for')
  return changed(result, taskId, DEAD_ONLY)
}

const DEAD_ONLY = 'Only an EXHAUSTED task can be replayed.'

function changed(answered: Changed, taskId: string, rule: string): Task {
  switch (answered.kind) {
    case 'changed':
      return answered.task
    case 'conflict':
      throw otherVersion(answered.task.version)
    case 'unchanged':
      throw wrongStatus(answered.task, rule)
    case 'unknown':
      throw unknownTask(taskId)
  }
}

function unknownTask(taskId: string): Refusal {
  return new Refusal('task-not-found', {
    detail: `${taskId} is unknown: it never was, or it ended so long ago that it was forgotten.`,
  })
}

function wrongStatus({ taskId, state: { status } }: Task, rule: string): Refusal {
  return new Refusal('wrong-status', {
    detail: `It is ${status}. ${rule} ${INSTEAD[status]}`,
    taskId,
    taskStatus: status,
  })
}

/** What can be done with a task as it is. */
const INSTEAD: { readonly [status in TaskStatus]: string } = {
  PENDING: 'It can be cancelled, or attempted now.',
  IN_FLIGHT: 'It can be cancelled; wait for the end of its attempt for anything else.',
  SUCCEEDED: 'Nothing is left to do; submit a new task to send the request again.',
  EXHAUSTED: 'It can be replayed.',
  CANCELLED: 'Nothing is left to do; submit a new task to send the request after all.',
}

/** Whoever listens hears of it, too. */
function sendChanged(
  reply: FastifyReply,
  { task, verb }: { readonly task: Task; readonly verb: TaskOperated['verb'] },
  context: ApiContext,
): FastifyReply {
  const { taskId, state } = task
  context.live.stream.taskChanged(task.tenant, () => changeOf(task))
  context.operatorEvents?.taskOperated({ taskId, verb, status: state.status })
  return sendTask(reply, task, context)
}

function sendTask(reply: FastifyReply, task: Task, context: ApiContext): FastifyReply {
  return reply.header('etag', etagOf(task.version)).send(taskView(task, context))
}
