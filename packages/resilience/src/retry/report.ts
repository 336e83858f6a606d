import { listen, tell, type OperationEvent, type Telemetry } from '../ports/telemetry.ts'
import {
  accompanyAll,
  type Accompanied,
  type Companion,
  type End,
  type EndedAttempt,
  type Gate,
  type Wait,
} from './companion.ts'

/** Hears the events of the whole process until the returned function is called; operations as they begin. */
export function observe(observer: Telemetry): () => void {
  const leavers = [listen(observer), accompanyAll(reporter(observer))]
  return () => leavers.forEach(leave => leave())
}

/** Tells one function what happens to operations. */
export function reporter(observer: Telemetry): Gate {
  return { accompany: operation => new Report(operation, observer) }
}

class Report implements Companion {
  readonly #operation: Accompanied
  readonly #observer: Telemetry

  constructor(operation: Accompanied, observer: Telemetry) {
    this.#operation = operation
    this.#observer = observer
  }

  started(): void {
    this.#tell({ kind: 'attempt-started' })
  }

  ended({ outcome, durationMs, elapsedMs, error }: EndedAttempt): void {
    this.#tell({ kind: 'attempt-ended', outcome, durationMs, elapsedMs, error })
  }

  waits(wait: Wait): void {
    this.#tell({ kind: 'retry-scheduled', ...wait })
  }

  over(end: End | undefined): void {
    if (end !== undefined) this.#tell({ kind: 'gave-up', ...end })
  }

  hookFailed(error: unknown): void {
    this.#tell({ kind: 'exhausted-hook-failed', error })
  }

  #tell(event: OperationEvent): void {
    const { name, setup, id, attempts } = this.#operation
    const { client, key } = setup.options
    const whose = client === undefined ? { name } : { name, client, key }
    tell(this.#observer, { ...event, ...whose, operationId: id, attempt: attempts })
  }
}
