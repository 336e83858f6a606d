import type { FastifyRequest } from 'fastify'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'

/** Who asks. */
export function callerOf(_request: FastifyRequest): Caller {
  return LOCAL_CALLER
}
