import { ResilienceError } from '../errors.ts'

/** What `RetryEngine` refuses. What an action throws is never among it: that is read with `getLastError`. */
export class RetryEngineError extends ResilienceError<
  'operation-running' | 'invalid-configuration' | 'too-many-operations'
> {
  override get name(): string {
    return 'RetryEngineError'
  }
}
