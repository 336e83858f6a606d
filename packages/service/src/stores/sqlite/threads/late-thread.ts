import type { FileOptions } from '../file/file.ts'
import { startThread, type Thread } from './thread.ts'

export interface LateThreadOptions {
  readonly script: URL
  readonly data: FileOptions
  /** Throws what keeps it from being started. */
  readonly refuse: () => void
}

/** A thread that is started by the first who asks it: a store that needs none has none. */
export function lateThread<Ask, Answer>({ script, data, refuse }: LateThreadOptions): Thread<Ask, Answer> {
  let thread: Promise<Thread<Ask, Answer>> | undefined
  const start = async (): Promise<Thread<Ask, Answer>> => {
    try {
      return (await startThread<Ask, Answer, null>(script, data)).thread
    } catch (error) {
      thread = undefined
      throw error
    }
  }
  return {
    async ask(ask) {
      if (thread === undefined) refuse()
      thread ??= start()
      return (await thread).ask(ask)
    },
    async close() {
      await (await thread)?.close()
    },
  }
}
