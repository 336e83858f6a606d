import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { hash } from 'node:crypto'
import { Type, type TSchema } from 'typebox'
import { comeBackAfter, Refusal } from './answers/refusal.ts'
import type { ApiContext } from './context.ts'
import { whenTaken } from './requests/when-taken.ts'
import { answer, BATCH_RESULT, CAUSE, PROBLEM, refusals } from './schemas/answers.ts'
import { BODY } from './schemas/body.ts'
import { CONTROL, CONTROL_INPUT, CONTROL_STATE } from './schemas/control.ts'
import { DESTINATION } from './schemas/destination.ts'
import { KEY_SCHEME, operation, TAGS } from './schemas/operation.ts'
import { RETRY_POLICY, RETRY_POLICY_INPUT } from './schemas/policy.ts'
import { REPLAY, REPLAY_INPUT } from './schemas/replay.ts'
import { parameters, type ComponentName } from './schemas/schema.ts'
import { RETRY_TASK_INPUT } from './schemas/task-input.ts'
import { ATTEMPT, EXPLANATION, RETRY_TASK } from './schemas/task.ts'
import {
  CONTROL_EVENT,
  COUNTERS_EVENT,
  DESTINATION_EVENT,
  GAP_EVENT,
  REPLAY_EVENT,
  SERIES,
  TASK_EVENT,
} from './schemas/watching.ts'

const COMPONENTS: { readonly [name in ComponentName]: TSchema } = {
  Attempt: ATTEMPT,
  BatchResult: BATCH_RESULT,
  Body: BODY,
  Cause: CAUSE,
  CountersEvent: COUNTERS_EVENT,
  Control: CONTROL,
  ControlEvent: CONTROL_EVENT,
  ControlInput: CONTROL_INPUT,
  ControlState: CONTROL_STATE,
  Destination: DESTINATION,
  DestinationEvent: DESTINATION_EVENT,
  Explanation: EXPLANATION,
  GapEvent: GAP_EVENT,
  Problem: PROBLEM,
  Replay: REPLAY,
  ReplayEvent: REPLAY_EVENT,
  ReplayInput: REPLAY_INPUT,
  RetryPolicy: RETRY_POLICY,
  RetryPolicyInput: RETRY_POLICY_INPUT,
  RetryTask: RETRY_TASK,
  RetryTaskInput: RETRY_TASK_INPUT,
  Series: SERIES,
  TaskEvent: TASK_EVENT,
}

/** Writes the document from the schemas that the routes check with: to be called before there are routes. */
export function describeApi(api: FastifyInstance, { version }: Pick<ApiContext, 'version'>): void {
  for (const schema of Object.values(COMPONENTS)) api.addSchema(schema)
  void api.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Secondwind',
        version,
        description:
          'Hands over requests that failed, and has them retried for hours. Instants are ms since the epoch.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: TAGS.map(name => ({ name })),
      components: {
        securitySchemes: {
          [KEY_SCHEME]: {
            type: 'http',
            scheme: 'bearer',
            description:
              'A key of the service, `swk_…`. A service without keys answers its own machine alone, and asks for none.',
          },
        },
      },
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `part-${index}`) },
    // What is no operation of the API has no tag.
    hideUntagged: true,
    convertConstToEnum: false,
  })
}

/** It needs no key, so it passes the gate, and it is long: only so many are on their way at once. */
const MOST_UNDER_WAY = 8
const FULL_WAIT_MS = 1_000

export function addOpenApi(api: FastifyInstance, { random }: Pick<ApiContext, 'random'>): void {
  let written: Written | undefined
  let underWay = 0
  api.get(
    '/openapi.json',
    {
      schema: operation({
        operationId: 'getOpenApi',
        scope: 'none',
        summary: 'This document',
        tags: ['service'],
        querystring: parameters({}),
        headers: Type.Object({ 'If-None-Match': Type.Optional(Type.String()) }),
        response: {
          200: answer(
            Type.Object({}, { additionalProperties: true, examples: [{ openapi: '3.1.1' }] }),
            'OpenAPI 3.1.',
            { etag: 'Another one when it has changed.' },
          ),
          304: { description: 'It is as it was.', type: 'null' },
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      written ??= write(api)
      const { bytes, etag } = written
      void reply.header('etag', etag)
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (underWay >= MOST_UNDER_WAY)
        throw new Refusal('too-many-requests', {
          detail: `${MOST_UNDER_WAY} others are reading this document now; no more can at once.`,
          headers: comeBackAfter(FULL_WAIT_MS, random()),
        })
      underWay++
      whenTaken(reply, () => underWay--)
      return reply.type('application/json').send(bytes)
    },
  )
}

interface Written {
  readonly bytes: Buffer
  readonly etag: string
}

/** Once: from then on it costs no more than its bytes. */
function write(api: FastifyInstance): Written {
  const text = JSON.stringify(api.swagger())
  return { bytes: Buffer.from(text), etag: `"${hash('sha256', text, 'base64url')}"` }
}
