import type { Attempt } from './retry/options.ts'
import { settled } from './testing/settle.ts'

/** Work that goes on until a test ends it, deaf to its signal. */
export interface HeldWork {
  readonly work: (attempt: Attempt) => Promise<string>
  /** Calls begun. */
  readonly begun: () => number
  /** Ends the oldest call under way: well, or with an error. */
  readonly end: (error?: Error) => Promise<void>
}

export function heldWork(): HeldWork {
  const underWay: { resolve: (value: string) => void; reject: (error: Error) => void }[] = []
  let begun = 0
  return {
    begun: () => begun,
    work: () => {
      begun++
      return new Promise((resolve, reject) => underWay.push({ resolve, reject }))
    },
    end: async error => {
      const call = underWay.shift()!
      if (error === undefined) call.resolve('done')
      else call.reject(error)
      await settled()
    },
  }
}

/** What a promise came to: its value, or the error it was rejected with. */
export function endOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error)
}
