import { wholeNumber } from '../check/problems.ts'
import { failure, SUCCESS } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { CompiledPolicy } from '../retry/compile.ts'
import { retryCompiled } from '../retry/run.ts'
import { compileConfiguration, CONFIGURATION_CHECKS, DEFAULT_CONFIGURATION, refuseBadNumbers } from './configuration.ts'
import { EngineOperation, type OperationStatus } from './engine-operation.ts'
import { RetryEngineError } from './errors.ts'
import { OperationMemory } from './operation-memory.ts'

export type { OperationStatus } from './engine-operation.ts'
export { RetryEngineError } from './errors.ts'

export interface RetryEngineOptions {
  readonly clock?: Clock
  readonly random?: Random
  /** How many operations are remembered, running ones included; 10 000 unless told. */
  readonly mostOperations?: number
}

/** Fails by throwing, or by being `false`; everything else is success. */
export type Action = () => unknown

/** A few megabytes when full; more at once than one process has any business retrying. */
const DEFAULT_MOST_OPERATIONS = 10_000

/**
 * Retries by name: each operation has an id under which its state can be read while it runs and afterwards. Every
 * failure is retried, at growing intervals, until the retries run out; nothing else limits them. For a call whose
 * errors mean something, and for protection against storms, use `retry`.
 */
export class RetryEngine {
  readonly #clock: Clock
  readonly #random: Random
  readonly #operations: OperationMemory
  /** Replaced as a whole, never changed: who has begun with one keeps it. */
  #policy: CompiledPolicy = compileConfiguration(DEFAULT_CONFIGURATION)

  constructor(options: RetryEngineOptions = {}) {
    const { clock = systemClock, random = systemRandom, mostOperations = DEFAULT_MOST_OPERATIONS } = options
    refuseBadNumbers({ mostOperations: wholeNumber(1, 1_000_000) }, { mostOperations })
    this.#clock = clock
    this.#random = random
    this.#operations = new OperationMemory(mostOperations)
  }

  /** For every `execute` from now on; what is running keeps what it began with. */
  configure(maxRetries: number, initialDelayMs: number, backoffMultiplier: number, maxDelayMs: number): void {
    const configuration = { maxRetries, initialDelayMs, backoffMultiplier, maxDelayMs }
    refuseBadNumbers(CONFIGURATION_CHECKS, configuration)
    this.#policy = compileConfiguration(configuration)
  }

  /**
   * Calls the action, the first time at once, until it succeeds: true. False when the retries ran out, or when the
   * operation is cancelled. An operation that has ended begins anew; one that was cancelled must be reset first.
   */
  async execute(operationId: string, action: Action): Promise<boolean> {
    const earlier = this.#operations.get(operationId)
    if (this.#operations.isRunning(operationId)) throw refuseSecond(operationId)
    if (earlier?.isCancelled) {
      earlier.status = 'CANCELLED'
      return false
    }
    const operation = new EngineOperation()
    this.#operations.add(operationId, operation)
    try {
      operation.end((await this.#retry(operation, action)) === false ? 'FAILED' : 'SUCCEEDED')
    } catch (error) {
      // What the action throws ends in `onExhausted`: this is the cancel, or a fault that is not the action's.
      operation.end('FAILED')
      if (!operation.isCancelled) throw error
    } finally {
      this.#operations.end(operationId, operation)
    }
    return operation.status === 'SUCCEEDED'
  }

  getAttemptCount(operationId: string): number {
    return this.#operations.get(operationId)?.startedAts.length ?? 0
  }

  getStatus(operationId: string): OperationStatus {
    return this.#operations.get(operationId)?.status ?? 'PENDING'
  }

  /** The message of what the action threw last; null if it never threw. */
  getLastError(operationId: string): string | null {
    return this.#operations.get(operationId)?.lastError ?? null
  }

  /** The delay that is being waited now, jitter included; 0 when none is. */
  getNextRetryDelayMs(operationId: string): number {
    return this.#operations.get(operationId)?.nextRetryDelayMs ?? 0
  }

  /** When each attempt started, the first included, in ms since the epoch. */
  getRetryTimestamps(operationId: string): number[] {
    return [...(this.#operations.get(operationId)?.startedAts ?? [])]
  }

  /**
   * Ends a wait at once; an action that is running goes on, but its end changes nothing any more. No attempt is made
   * under this id, not even by a later `execute`, until it is reset.
   */
  cancel(operationId: string): void {
    let operation = this.#operations.get(operationId)
    if (operation === undefined) this.#operations.add(operationId, (operation = new EngineOperation()))
    operation.cancel()
    this.#operations.end(operationId, operation)
  }

  /** As if the id had never been used. An operation that is running is cancelled. */
  reset(operationId: string): void {
    this.#operations.get(operationId)?.cancel()
    this.#operations.forget(operationId)
  }

  #retry(operation: EngineOperation, action: Action): Promise<unknown> {
    const work = (): unknown => {
      operation.startAttempt(this.#clock.now())
      return action()
    }
    return retryCompiled(work, this.#policy, {
      name: 'RetryEngine',
      signal: operation.begin(),
      budget: false,
      classify: error => {
        operation.lastError = messageOf(error)
        return 'transient'
      },
      classifyResult: value => (value === false ? failure('transient') : SUCCESS),
      onExhausted: () => false,
      telemetry: event => {
        if (event.kind === 'retry-scheduled') operation.wait(event.delayMs)
      },
      ports: { clock: this.#clock, random: this.#random },
    })
  }
}

function refuseSecond(operationId: string): RetryEngineError {
  return new RetryEngineError(
    'operation-running',
    `operation "${operationId}" is running; wait for it, reset it, or use another id`,
  )
}

function messageOf(error: unknown): string {
  try {
    const { message } = Object(error) as { readonly message?: unknown }
    return typeof message === 'string' ? message : String(error)
  } catch {
    // Not even an error's text can be relied on: it may be an object without a prototype.
    return 'an error that has no text'
  }
}
