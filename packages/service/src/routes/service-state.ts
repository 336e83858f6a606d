import type { FastifyInstance } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { comeBackAfter, Refusal } from './answers/refusal.ts'
import type { ApiContext } from './context.ts'
import { answer, refusals } from './schemas/answers.ts'
import { operation } from './schemas/operation.ts'
import { parameters, wordOf } from './schemas/schema.ts'

const ASKED = { tags: ['service'], querystring: parameters({}) } as const
const READY_AGAIN_MS = 5_000
const SKEW = Type.Number({ description: "How far the machine's clock has gone from the store's." })
const VERSION = Type.String({ description: 'Of the service.' })
const FORMAT = Type.Optional(
  Type.Number({ description: 'Of its data file: an upgrade may raise it, and an older version refuses it then.' }),
)
const INSTANCE = Type.String({ description: 'The name that the process gave itself: another one after each start.' })
const ANSWERED_AT = Type.Number({ description: 'What time it is for the service, in ms since the epoch.' })

function statusOf(status: string, others: { readonly [name: string]: TSchema } = {}): TSchema {
  return Type.Object({ status: wordOf([status]), ...others }, { examples: [{ status }] })
}

/** How the service itself is, for those who watch over it. */
export function addServiceState(
  api: FastifyInstance,
  { health, random, clock, version, format, instance }: ApiContext,
): void {
  api.get(
    '/healthz',
    {
      schema: operation({
        ...ASKED,
        operationId: 'isAlive',
        scope: 'none',
        summary: 'Whether the process answers at all',
        response: {
          200: answer(
            statusOf('alive', { version: VERSION, format: FORMAT, instance: INSTANCE, answeredAt: ANSWERED_AT }),
            'It does.',
          ),
          ...refusals(),
        },
      }),
    },
    async (_, reply) => reply.send({ status: 'alive', version, format, instance, answeredAt: clock.now() }),
  )

  api.get(
    '/readyz',
    {
      schema: operation({
        ...ASKED,
        operationId: 'isReady',
        scope: 'none',
        summary: 'Whether it can do its work: take tasks in, and send them',
        response: { 200: answer(statusOf('ready', { clockSkewMs: SKEW }), 'It can.'), ...refusals() },
      }),
    },
    async (_, reply) => {
      const { problems, clockSkewMs } = await health()
      if (problems.length === 0) return reply.send({ status: 'ready', clockSkewMs })
      throw new Refusal('not-ready', { detail: problems.join(' '), headers: comeBackAfter(READY_AGAIN_MS, random()) })
    },
  )
}

/** For Prometheus, which speaks no JSON. */
export function addMetrics(api: FastifyInstance, { metrics }: ApiContext): void {
  api.get(
    '/metrics',
    {
      schema: operation({
        ...ASKED,
        operationId: 'getMetrics',
        scope: 'read',
        isForOperators: true,
        summary: 'Metrics in the text format of Prometheus',
        response: {
          200: {
            description: 'All of them.',
            content: { 'text/plain': { schema: Type.String({ examples: ['retry_tasks{status="PENDING"} 3'] }) } },
          },
          ...refusals(),
        },
      }),
    },
    async (_, reply) => {
      const { contentType, text } = await metrics()
      return reply.type(contentType).send(text)
    },
  )
}
