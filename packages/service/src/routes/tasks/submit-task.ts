import type { FastifyInstance } from 'fastify'
import assert from 'node:assert/strict'
import { Type } from 'typebox'
import { changeOf } from '../../task/task-change.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { askedPolicy } from '../policies/asked-policies.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf } from '../requests/if-match.ts'
import { bodyErrors, problemsOfShape } from '../requests/validation.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import { OTHER_WORDS } from '../schemas/task-input.ts'
import { enqueueTasks } from './hand-over.ts'
import { readTask, type Intake } from './intake.ts'
import { taskBytes } from './task-bytes.ts'
import { shownTask } from './task-view.ts'

const NOTE =
  'No idempotencyKey was given: the same POST again would make a second task. Its attempts carry the taskId as their key.'

export function addSubmitTask(api: FastifyInstance, context: ApiContext, intake: Intake): void {
  const { limits, live } = context
  api.post(
    '/retry-tasks',
    {
      attachValidation: true,
      bodyLimit: taskBytes(limits),
      schema: operation({
        operationId: 'submitTask',
        scope: 'enqueue',
        summary: 'Hand over a request: answered once it is durable',
        tags: ['tasks'],
        querystring: parameters({}),
        headers: Type.Object({
          'Idempotency-Key': Type.Optional(Type.String({ description: 'Instead of the field `idempotencyKey`.' })),
        }),
        body: component('RetryTaskInput'),
        response: {
          201: answer(component('RetryTask'), 'A new task.', {
            location: 'Where it can be read.',
            etag: 'Its version.',
          }),
          200: answer(component('RetryTask'), 'The task of the same request, which had come before.', {
            'idempotency-replayed': 'true',
            etag: 'Its version.',
          }),
          ...refusals(408, 413, 415, 422, 431),
        },
      }),
    },
    async (request, reply) => {
      const { tenant, actor } = callerOf(request)
      intake.limit(tenant)
      await intake.turn()
      const asked = {
        tenant,
        actor,
        input: request.body,
        shape: problemsOfShape(bodyErrors(request), { kind: 'field', others: OTHER_WORDS }),
        keyHeader: request.headers['idempotency-key'] as string | undefined,
        policies: askedPolicy(intake.policies, tenant),
        readTargetUrl: intake.readTargetUrl,
      }
      const read = readTask(asked, context)
      const newTask = read instanceof Promise ? await read : read
      const [taken] = await enqueueTasks([newTask], context)
      assert(taken !== undefined, 'each task is answered for itself')
      if (taken instanceof Refusal) throw taken
      const { task, isNew } = taken
      const view = shownTask(task)
      void reply.header('etag', etagOf(task.version))
      if (!isNew) {
        void reply.header('idempotency-replayed', 'true')
        return view
      }
      live.stream.taskChanged(task.tenant, () => changeOf(task))
      void reply.code(201).header('location', `/retry-tasks/${task.taskId}`)
      return newTask.keyGiven ? view : { ...view, note: NOTE }
    },
  )
}
