import { systemClock } from '@secondwind/resilience'
import { showProgress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { inThreads } from './in-threads.ts'
import { isQuick, runJob, type Job, type ResultOf } from './jobs.ts'

/** About what threads take to begin: what is done by then needs none. */
const ALONE_MS = 1_000

/** Built files have another ending than sources. */
const SCRIPT = new URL(import.meta.url.endsWith('.ts') ? 'thread.ts' : 'thread.js', import.meta.url)

/**
 * The result of every job, in their order; what takes longer is shared out to threads, with a bar. While this thread works
 * itself it can neither draw nor be interrupted with grace, so that it takes nothing that is known to be long.
 */
export async function runJobs<J extends Job>(
  jobs: readonly J[],
  { label, terminal }: { label: string; terminal: Terminal },
): Promise<ResultOf<J>[]> {
  const beganAt = systemClock.monotonic()
  const results: ResultOf<J>[] = []
  for (const job of jobs) {
    if (!isQuick(job) || systemClock.monotonic() - beganAt > ALONE_MS) break
    results.push(runJob(job))
  }
  const rest = jobs.slice(results.length)
  if (rest.length === 0) return results
  const progress = showProgress(terminal, { label, done: results.length, total: jobs.length })
  try {
    const onDone = (): void => progress.advance(1)
    return [...results, ...(await inThreads<J, ResultOf<J>>(rest, { script: SCRIPT, onDone }))]
  } finally {
    progress.end()
  }
}
