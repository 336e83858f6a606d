/** `@secondwind/resilience/fetch`: a fetch that keeps a policy. */
export { InvalidOptionError, NotReplayableError } from '../wire/errors.ts'
export type { BodyMaker, ExhaustedFetch, FetchOptions, RetryingFetch, RetryingInit } from './options.ts'
export { createFetch } from './run.ts'
