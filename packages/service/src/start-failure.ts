/** Why a service could not be started: what, because, and what to type. */
export class StartFailure extends Error {
  readonly code: string
  readonly because: string
  readonly next: readonly string[]

  constructor(parts: { code: string; what: string; because: string; next?: readonly string[]; cause?: unknown }) {
    super(parts.what, { cause: parts.cause })
    this.name = 'StartFailure'
    this.code = parts.code
    this.because = parts.because
    this.next = parts.next ?? []
  }
}
