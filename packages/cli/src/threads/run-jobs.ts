import { systemClock } from '@secondwind/resilience'
import { showProgress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { inThreads } from './in-threads.ts'
import { runJob, type Job, type ResultOf } from './jobs.ts'

/** About what threads take to begin: what is done by then needs none. */
const ALONE_MS = 1_000

/** Built files have another ending than sources. */
const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? 'thread.ts' : 'thread.js', import.meta.url)

/** The result of every job, in their order; what takes longer is shared out to threads, with a bar. */
export async function runJobs<J extends Job>(
  jobs: readonly J[],
  { label, terminal }: { label: string; terminal: Terminal },
): Promise<ResultOf<J>[]> {
  const progress = showProgress(terminal, { label, total: jobs.length })
  const onDone = (): void => progress.advance(1)
  const beganAt = systemClock.monotonic()
  const results: ResultOf<J>[] = []
  try {
    for (const job of jobs) {
      if (systemClock.monotonic() - beganAt > ALONE_MS) break
      results.push(runJob(job))
      onDone()
    }
    const rest = jobs.slice(results.length)
    return [...results, ...(await inThreads<J, ResultOf<J>>(rest, { script: SCRIPT, onDone }))]
  } finally {
    progress.end()
  }
}
