/** One run from the first start to the audit. */
import { setInterval, setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '@secondwind/resilience/testing'
import { auditTask, type Audit } from './audit.ts'
import { Callers } from './callers.ts'
import { checkCounters } from './counters.ts'
import type { Ledger } from './ledger.ts'
import { Lives } from './lives.ts'
import type { Options } from './options.ts'
import { readAll } from './readings.ts'
import { startSink } from './sink.ts'
import { watch } from './watchers.ts'

export interface Found {
  readonly audits: readonly Audit[]
  readonly counters: readonly string[]
  readonly early: number
}

interface Place {
  readonly data: string
  /** An open file that takes the service's log. */
  readonly log: number
}

/** Lists may be a second late. */
const LISTED_MS = 2_000
const LOOK_EVERY_MS = 1_000
const SAY_EVERY = 10
/** In looks. A run that gets no further for so long is given up. */
const MOST_STILL = 60
/** A run that is slower than this is given up, too. */
const LONGEST_MS = { atAll: 300_000, forKill: 10_000, forTask: 20 }

/** Never throws: what stops a run is a violation of the ledger. */
export async function soak(options: Options, ledger: Ledger, { data, log }: Place): Promise<Found> {
  const { seed, killCount, taskCount, command } = options
  const sink = await startSink(ledger, seed)
  const start = { command, data, log }
  const lives = new Lives({ ledger, random: seededRandom(seed), killCount, taskCount, start })
  const random = seededRandom(seed + 1)
  const callers = new Callers({ ledger, lives, random, seed, taskCount, sinkUrls: sink.urls })
  const stop = new AbortController()
  const submitting = Promise.all([callers.run(), lives.run()])
  const work = Promise.all([submitting, watch(ledger, lives, submitting)])
  try {
    await Promise.race([work, lives.crash, guard(options, ledger, stop.signal)])
    return await Promise.race([examine(ledger, lives), lives.crash])
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    ledger.violated(`the run was given up: ${why}`, Date.now())
    return { audits: [], counters: unfinished(ledger), early: lives.early }
  } finally {
    stop.abort()
    await lives.end('SIGKILL')
    sink.stop()
  }
}

async function examine(ledger: Ledger, lives: Lives): Promise<Found> {
  await sleep(LISTED_MS)
  const shown = await readAll(await lives.url(), ledger)
  const audits = [...ledger.tasks.values()].map(task => {
    const taskId = task.taskId ?? ''
    return auditTask(task, shown.tasks.get(taskId), shown.attempts.get(taskId) ?? [], ledger.lives)
  })
  const counters = checkCounters(ledger, shown)
  const code = await lives.end('SIGTERM')
  if (code !== 0) counters.push(`the service ended with ${code} after SIGTERM`)
  return { audits, counters, early: lives.early }
}

/** Says how far the run is, and rejects when it gets no further. */
async function guard({ killCount, taskCount }: Options, ledger: Ledger, signal: AbortSignal): Promise<never> {
  const mostMs = LONGEST_MS.atAll + killCount * LONGEST_MS.forKill + taskCount * LONGEST_MS.forTask
  const mostLooks = mostMs / LOOK_EVERY_MS
  let [before, still, looks] = [-1, 0, 0]
  for await (const _ of setInterval(LOOK_EVERY_MS, undefined, { signal })) {
    const { accepted, settled } = ledger.counts
    const kills = ledger.lives.length - 1
    still = accepted + settled + kills === before ? still + 1 : 0
    before = accepted + settled + kills
    looks++
    if (looks % SAY_EVERY === 0) process.stderr.write(`${kills} kills, ${accepted} accepted, ${settled} ended\n`)
    if (still >= MOST_STILL) throw new Error(`nothing was accepted and nothing ended for ${still} s`)
    if (looks >= mostLooks) throw new Error(`it was not over after ${looks} s`)
  }
  throw new Error('unreachable: the interval ends only when the run is over')
}

/** Of a run that was given up: which tasks had not ended. */
function unfinished({ unsettled }: Ledger): string[] {
  return [...unsettled].map(({ key, taskId, requests }) => {
    const last = requests.at(-1)
    const seen = last === undefined ? 'no request came' : `the answer to request ${requests.length} was ${last.answer}`
    return `${key} (${taskId}) has not been seen to end; ${seen}`
  })
}
