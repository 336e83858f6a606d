/** `@secondwind/resilience/undici`: an interceptor for undici 7 and later that keeps a policy. */
export { InvalidOptionError } from '../wire/errors.ts'
export { replayable } from './call.ts'
export { retrying, type UndiciOptions } from './retrying.ts'
