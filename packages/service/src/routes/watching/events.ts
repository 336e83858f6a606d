import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import { Type } from 'typebox'
import { ownerOf } from '../../access/caller.ts'
import type { Outlet } from '../../telemetry/stream/listener.ts'
import { EVENT_TYPES, type EventType } from '../../telemetry/stream/stream-event.ts'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { callerOf } from '../requests/door.ts'
import { invalid } from '../requests/validation.ts'
import { whenTaken } from '../requests/when-taken.ts'
import { refusals } from '../schemas/answers.ts'
import { destinationField, taskIdField } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { parameters } from '../schemas/schema.ts'

interface EventsRoute {
  readonly Querystring: {
    readonly destination?: string
    readonly taskId?: string
    readonly types?: string
    readonly since?: string
  }
}

const TYPE = `(?:${EVENT_TYPES.join('|')})`
const EVENT_ID = '^[0-9a-f]{8}-[0-9]{1,15}$'
const EXAMPLE_ID = '5f0c7a1b-41'

const QUERY = parameters({
  destination: Type.Optional(destinationField),
  taskId: Type.Optional(taskIdField),
  types: Type.Optional(
    Type.String({
      pattern: `^${TYPE}(?:,${TYPE})*$`,
      maxLength: 200,
      'x-takes': `some of ${EVENT_TYPES.join(', ')}, with commas between them`,
      examples: ['task,counters'],
    }),
  ),
  since: Type.Optional(
    Type.String({
      pattern: EVENT_ID,
      'x-takes': 'the id of an event that was heard, such as 5f0c7a1b-41',
      description: 'For those who cannot send `Last-Event-ID`.',
      examples: [EXAMPLE_ID],
    }),
  ),
})

const EXAMPLE = `event: task
id: ${EXAMPLE_ID}
data: {"at":1767225600000,"taskId":"019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a","destination":"https://api.example","status":"SUCCEEDED","attemptNumber":2,"outcome":"success","responseStatus":200}

`

const FULL_WAIT_MS = 10_000
/** How long a listener whose connection broke should wait: up to twice as long, so that not all come back at once. */
const RECONNECT_MS = 1_000

/** Server-sent events, for as long as somebody listens. */
export function addEvents(api: FastifyInstance, context: ApiContext): void {
  const { live, orders, random, isStillAllowed = async () => true } = context
  const { stream } = live
  // Those who listen never leave by themselves, and would keep the server open.
  api.addHook('preClose', async () => stream.close())
  api.get<EventsRoute>(
    '/events',
    {
      // A head without a body would wait for its end for ever.
      exposeHeadRoute: false,
      config: { passesGate: true },
      schema: operation({
        operationId: 'listen',
        scope: 'read',
        summary: 'What happens, as it happens: server-sent events',
        tags: ['watching'],
        querystring: QUERY,
        headers: Type.Object({
          'Last-Event-ID': Type.Optional(
            Type.String({ description: 'Goes on after this event; browsers send it by themselves.' }),
          ),
        }),
        response: {
          200: {
            description: 'Events, each with an id; a comment when there is nothing to tell.',
            content: { 'text/event-stream': { schema: Type.String({ examples: [EXAMPLE] }) } },
          },
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { destination: named, taskId, types, since = request.headers['last-event-id'] } = request.query
      const [destination, problems] = readDestination({ at: 'destination', is: named }, caller, orders)
      if (problems.length > 0) throw invalid('query', problems)
      const { isOperator } = caller
      const tenant = ownerOf(caller)
      if (!stream.hasRoom({ tenant, isOperator }))
        throw new Refusal('too-many-listeners', {
          detail:
            'Too many callers listen, of this tenant or of all together. Share one stream among the pages of a browser.',
          headers: comeBackAfter(FULL_WAIT_MS, random()),
        })
      const response = begin(reply.hijack().raw, request.id, random())
      const leave = stream.listen({
        tenant,
        isOperator,
        filter: { destination, taskId, types: types?.split(',').toSorted() as EventType[] | undefined },
        since: typeof since === 'string' && since !== '' ? since : undefined,
        outlet: outletOf(response),
        isStillAllowed: () => isStillAllowed(caller),
      })
      whenTaken(reply, () => leave?.())
    },
  )
}

function begin(response: ServerResponse, requestId: string, roll: number): ServerResponse {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Proxies that know it pass everything on at once.
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  })
  response.write(`retry: ${Math.ceil(RECONNECT_MS * (1 + roll))}\n\n`)
  return response
}

function outletOf(response: ServerResponse): Outlet {
  return {
    get isFull() {
      return response.writableNeedDrain
    },
    write: bytes => void response.write(bytes),
    end: () => void response.end(),
    cut: () => void response.destroy(),
  }
}
