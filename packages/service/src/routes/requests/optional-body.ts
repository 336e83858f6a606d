import type { FastifyRequest } from 'fastify'

/** Whoever has nothing to say need not send an empty object. */
export async function emptyBodyIsNone(request: FastifyRequest): Promise<void> {
  request.body ??= {}
}
