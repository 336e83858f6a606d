import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export interface ThreadsOptions {
  /** What each thread runs: it answers every message, a job, with a message, its result. */
  readonly script: URL
  readonly mostThreads?: number
  readonly onDone?: () => void
}

/** Every job's result, in the order of the jobs, whichever thread was done first. The first error ends them all. */
export async function inThreads<Job, Result>(
  jobs: readonly Job[],
  { script, mostThreads = availableParallelism(), onDone }: ThreadsOptions,
): Promise<Result[]> {
  const results: Result[] = []
  const left = jobs.entries()
  const workers = Array.from(
    { length: Math.min(jobs.length, mostThreads) },
    () => new Worker(script, { execArgv: flagsFor(script) }),
  )
  try {
    await Promise.all(
      workers.map(async worker => {
        for (const [index, job] of left) {
          results[index] = await answerOf<Result>(worker, job)
          onDone?.()
        }
      }),
    )
    return results
  } finally {
    await Promise.all(workers.map(worker => worker.terminate()))
  }
}

/** Sources mean the sources of other packages, too, whatever the process was started with. */
function flagsFor({ pathname }: URL): string[] {
  return pathname.endsWith('.ts') ? ['--conditions=@secondwind/source'] : []
}

function answerOf<Result>(worker: Worker, job: unknown): Promise<Result> {
  return new Promise((resolve, reject) => {
    const listeners = {
      message: (result: Result) => settle(() => resolve(result)),
      error: (error: unknown) => settle(() => reject(error)),
      exit: (code: number) => settle(() => reject(new Error(`a thread ended with ${code} before its job`))),
    }
    const settle = (act: () => void): void => {
      for (const [event, listener] of Object.entries(listeners)) worker.off(event, listener)
      act()
    }
    for (const [event, listener] of Object.entries(listeners)) worker.on(event, listener)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage(job)
  })
}
