/** What a store throws: everything else is an answer. */

/** The store cannot do its work now. Nothing of the call was written, unless it says that this is not known. */
export class StoreUnavailableError extends Error {
  readonly code:
    | 'store-full'
    | 'store-read-only'
    | 'store-corrupt'
    | 'store-closed'
    | 'store-in-use'
    | 'store-unreachable'

  constructor(code: StoreUnavailableError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailableError'
    this.code = code
  }
}

/** The text is no cursor of this list: it was cut, made up, or belongs to another. */
export class InvalidCursorError extends Error {
  readonly code = 'invalid-cursor'

  constructor(list: string) {
    super(`this is no cursor of ${list}; pass the nextCursor of an earlier page as it came, or none to begin anew`)
    this.name = 'InvalidCursorError'
  }
}

/** The store has no index for this question, and will not look at every task for it. */
export class NoIndexError extends Error {
  readonly code = 'no-index'

  constructor(message: string) {
    super(message)
    this.name = 'NoIndexError'
  }
}
