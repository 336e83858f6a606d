import { historyOf, type History } from '../retry/history.ts'

/** What a fallback may look at. */
export interface Failed {
  readonly error: unknown
  /** Why there was no further attempt, and how the others failed; absent when no retry was involved. */
  readonly history: History | undefined
  readonly key: string
}

/** Answers for an operation that failed. A caller who went away wants no answer, and gets the reason of the abort. */
export async function withFallback<T, F>(
  result: Promise<T>,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal | undefined },
  fallback: (failed: Failed) => F | PromiseLike<F>,
): Promise<T | F> {
  try {
    return await result
  } catch (error) {
    if (signal?.aborted === true && signal.reason === error) throw error
    return fallback({ error, history: historyOf(error), key })
  }
}
