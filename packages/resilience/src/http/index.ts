/** `@secondwind/resilience/http`: requests of `node:http` and `node:https` that keep a policy. */
export { InvalidOptionError, NotReplayableError } from '../wire/errors.ts'
export { createRequest, type HttpOptions, type RetryingRequest } from './create-request.ts'
export type { HttpBody, HttpInit } from './call.ts'
