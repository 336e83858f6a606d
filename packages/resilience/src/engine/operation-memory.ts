import type { EngineOperation } from './engine-operation.ts'
import { RetryEngineError } from './errors.ts'

/**
 * A bounded number of operations by their ids. When there is no room, the one that ended first is forgotten;
 * a cancelled one only if there is no other, for its cancel is to hold until it is reset. A running one never.
 */
export class OperationMemory {
  readonly #most: number
  readonly #operations = new Map<string, EngineOperation>()
  /** Ids in the order in which their operations ended. */
  readonly #ended = new Set<string>()
  readonly #cancelled = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  get(id: string): EngineOperation | undefined {
    return this.#operations.get(id)
  }

  isRunning(id: string): boolean {
    return this.#operations.has(id) && !this.#ended.has(id) && !this.#cancelled.has(id)
  }

  /** Remembers it as running, in the place of an earlier one with this id. */
  add(id: string, operation: EngineOperation): void {
    this.forget(id)
    if (this.#operations.size >= this.#most) this.#makeRoom(id)
    this.#operations.set(id, operation)
  }

  /** It has ended, or was cancelled; one that was forgotten meanwhile stays forgotten. */
  end(id: string, operation: EngineOperation): void {
    if (this.#operations.get(id) !== operation) return
    this.#ended.delete(id)
    if (operation.isCancelled) this.#cancelled.add(id)
    else this.#ended.add(id)
  }

  forget(id: string): void {
    this.#operations.delete(id)
    this.#ended.delete(id)
    this.#cancelled.delete(id)
  }

  #makeRoom(forId: string): void {
    for (const endedFirst of [this.#ended, this.#cancelled]) for (const id of endedFirst) return this.forget(id)
    throw new RetryEngineError(
      'too-many-operations',
      `no room for operation "${forId}": all ${this.#most} that the engine remembers are running; ` +
        'wait for one of them, or construct the engine with a larger mostOperations',
    )
  }
}
