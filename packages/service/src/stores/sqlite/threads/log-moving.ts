/** Sees to it that the log is moved into the file while the writer goes on. */
export interface LogMoving {
  /** Told after each commit that wrote something. */
  wrote(): void
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
}

export interface LogMovingOptions {
  /** Moves what is in the log, if that is much, beside the writer; answers whether it did. */
  readonly moveMost: () => Promise<boolean>
  /** Has the writer move the rest. */
  readonly moveRest: () => Promise<unknown>
}

/** Some megabytes at most, unless bodies are large. */
const COMMITS_BETWEEN_LOOKS = 100

export function createLogMoving({ moveMost, moveRest }: LogMovingOptions): LogMoving {
  let commits = 0
  let moving: Promise<void> | undefined

  const move = async (): Promise<void> => {
    try {
      if (await moveMost()) await moveRest()
    } catch {
      // Nothing is lost: the log keeps it all. A disk that is full or broken is met by the commits themselves, and a log
      // that has grown too long is moved by the writer.
    }
    moving = undefined
  }
  return {
    wrote() {
      commits++
      if (moving !== undefined || commits < COMMITS_BETWEEN_LOOKS) return
      commits = 0
      moving = move()
    },
    settled: async () => moving,
  }
}
