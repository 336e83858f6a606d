/** Endpoints that fail on purpose, so that the first five minutes need no second program. Only `secondwind dev` has them. */
import type { Clock } from '@secondwind/resilience'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readScript, type Step } from './script.ts'

/** Calls are counted for each script and key: every task meets the script from its beginning. */
const MOST_COUNTED = 10_000

export function addPracticeEndpoints(api: FastifyInstance, { clock }: { readonly clock: Clock }): void {
  const calls = new Map<string, number>()
  void api.register((scope, _, done) => {
    // Whatever is sent is welcome: a practice target has no opinion about it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => {
      payload
        .resume()
        .on('end', () => parsed(null))
        .on('error', parsed)
    })
    scope.all<{ Params: { script: string } }>(
      '/_flaky/:script',
      { schema: { hide: true }, logLevel: 'silent' },
      async (request, reply) => {
        const read = readScript(request.params.script)
        if ('must' in read) return reply.code(404).send({ say: `a practice endpoint's path must be ${read.must}` })
        const call = countCall(calls, request)
        return take(read.steps[call - 1], call, request, reply, clock)
      },
    )
    done()
  })
}

function countCall(calls: Map<string, number>, { params, headers }: FastifyRequest): number {
  const { script } = params as { script: string }
  const key = `${script} ${String(headers['idempotency-key'] ?? '')}`
  const call = (calls.get(key) ?? 0) + 1
  // Counted anew, so that the one that is forgotten is the one that was called longest ago.
  calls.delete(key)
  calls.set(key, call)
  if (calls.size > MOST_COUNTED) calls.delete(calls.keys().next().value!)
  return call
}

async function take(
  step: Step | undefined,
  call: number,
  request: FastifyRequest,
  reply: FastifyReply,
  clock: Clock,
): Promise<FastifyReply> {
  switch (step?.kind) {
    case 'reset':
      request.raw.socket.resetAndDestroy()
      return reply.hijack()
    case 'slow':
      await clock.sleep(step.ms)
      return reply.send({ call, said: `after ${step.ms} ms` })
    case 'status':
      if (step.retryAfterSeconds !== undefined) void reply.header('retry-after', String(step.retryAfterSeconds))
      return reply.code(step.status).send({ call, said: `${step.status}, as asked` })
    case undefined:
      return reply.send({ call, said: 'well done' })
  }
}
