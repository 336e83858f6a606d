import type { CapturedResponse, TaskRequest } from '../task/task.ts'

/**
 * Sends one request and says what came of it. It never throws for what a server, a network or an address does, never
 * retries, never follows a redirect.
 */
export interface Target {
  send(delivery: Delivery): Sending
  close(): Promise<void>
}

/**
 * A request on its way. It can be cut off without an AbortSignal: one for each request would cost more than the rest of
 * it, for Node keeps what listens to a signal alive long after it has left.
 */
export interface Sending {
  readonly answer: Promise<TargetAnswer>
  /** Nobody wants the answer any more: it comes at once, and the connection is free. */
  cut(reason: unknown): void
}

export interface Delivery {
  readonly request: TaskRequest
  /** What an attempt says of itself: key, ordinal, time left, trace. Names in small letters; they win over the task's. */
  readonly headers: { readonly [name: string]: string }
  readonly timeoutMs: number
}

export type TargetAnswer =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** As they came, for `Retry-After` and its relatives. */
      readonly headers: { readonly [name: string]: string | string[] | undefined }
      readonly response: CapturedResponse
    }
  | {
      readonly kind: 'failed'
      /** The error as it came: the library's own rules read it. */
      readonly error: unknown
      /** `connect-refused`, `dns-failed`, `connect-timeout`, `attempt-timeout`, `reset`, `tls`, `target-forbidden`, … */
      readonly errorCode: string
      readonly errorMessage: string
      /** No byte of the request can have reached the server. */
      readonly unsent: boolean
    }
  | {
      /** Something of our own was lacking, such as a file descriptor: nothing was sent, and nothing said of the target. */
      readonly kind: 'not-tried'
      readonly errorCode: 'resources-out'
      readonly errorMessage: string
    }
