import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Door } from './admission.ts'
import { arriveOnNode } from './node.ts'
import { visitOf } from './visit.ts'

/** As much of fastify as is needed here. */
export interface FastifyPlugin {
  (instance: FastifyLike, options: unknown, done: () => void): void
}

interface FastifyLike {
  addHook(name: 'onRequest' | 'preValidation', hook: FastifyHook): unknown
}

type FastifyHook = (request: FastifyRequestLike, reply: FastifyReplyLike, next: () => void) => void

interface FastifyRequestLike {
  readonly raw: IncomingMessage
}

interface FastifyReplyLike {
  readonly raw: ServerResponse
  code(status: number): FastifyReplyLike
  headers(headers: { readonly [name: string]: string }): FastifyReplyLike
  send(body: string): unknown
}

export function fastifyPlugin(door: Door): FastifyPlugin {
  const plugin: FastifyPlugin = (instance, _options, done) => {
    instance.addHook('onRequest', ({ raw: request }, reply, next) =>
      arriveOnNode(door, { request, response: reply.raw }, next, ({ status, headers, body }) => {
        reply.code(status).headers(headers).send(body)
      }),
    )
    // What follows a body is called by the event that ended it, in the context of nobody.
    instance.addHook('preValidation', ({ raw }, _reply, next) => visitOf(raw)!.within(next))
    done()
  }
  // Without it the hooks would hold for the plugin's own routes only, of which there are none.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
