import type { FastifyRequest } from 'fastify'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by whoever has found out; absent: nobody asked for keys. */
    caller?: Caller
  }
}

/** Who asks. */
export function callerOf({ caller }: FastifyRequest): Caller {
  return caller ?? LOCAL_CALLER
}
