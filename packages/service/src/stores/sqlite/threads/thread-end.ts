import type { MessagePort } from 'node:worker_threads'
import { StoreUnavailableError } from '../../task-store.ts'
import { errorOf, type Fault } from '../file/faults.ts'

/** What a thread says first, and then once for each message, in their order. */
export type Said<Value> = { readonly kind: 'said'; readonly value: Value } | Failure

/** Why a call was not answered, as plain data. */
export type Failure =
  /** The file or the disk is at fault. */
  | { readonly kind: 'unavailable'; readonly fault: Fault }
  /** We are. */
  | { readonly kind: 'failed'; readonly message: string }

export function failureOf(error: unknown): Failure {
  if (error instanceof StoreUnavailableError)
    return { kind: 'unavailable', fault: { code: error.code, message: error.message } }
  return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

export function errorOfFailure(failure: Failure): Error {
  return failure.kind === 'unavailable' ? errorOf(failure.fault) : new Error(failure.message)
}

/** The last message that a thread is sent. */
export const CLOSE = 'close'

export interface Service<Ask, Answer> {
  readonly opened: unknown
  answer(ask: Ask): Answer
  close(): void
}

/** The thread's end of the line: opens, answers message after message, and leaves when it is told to close. */
export function serve<Ask, Answer>(port: MessagePort, open: () => Service<Ask, Answer>): void {
  const say = (said: Said<unknown>): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    port.postMessage(said)
  }
  const saying = <Value>(act: () => Value): void => {
    try {
      say({ kind: 'said', value: act() })
    } catch (error) {
      say(failureOf(error))
    }
  }
  let service: Service<Ask, Answer>
  saying(() => {
    service = open()
    return service.opened
  })
  port.on('message', (message: Ask | typeof CLOSE) => {
    if (message !== CLOSE) return saying(() => service.answer(message))
    saying(() => service.close())
    port.close()
  })
}
