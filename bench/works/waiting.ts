/** D: an outage of a dependency, as the program that waits for it feels it. */
import { stat } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Action, type Calls, RESET } from '../contenders/contender.ts'
import { failingOnce, rounds } from './one-failure.ts'
import type { LibraryWork } from './work.ts'

const WAITING = 100_000
const STARTED_PER_TURN = 1_000
const WARM_UP_ROUNDS = 20
const TURNS_TO_CATCH_UP = 10

export const waitingMemory: LibraryWork = {
  id: 'D1',
  title: '100,000 operations waiting in back-off: memory',
  contenders: ['secondwind', 'loop', 'cockatiel', 'p-retry', 'async-retry', 'effect'],
  figures: [{ key: 'bytesPerWaiting', label: 'heap bytes per waiting operation' }],
  bars: [{ figure: 'bytesPerWaiting', sign: '≤', limit: 1, times: 'loop' }],
  run: async calls => ({ bytesPerWaiting: await bytesPerWaiting(calls, calls.waitsLong!) }),
}

export async function bytesPerWaiting(calls: Calls, waits: (action: Action) => Promise<unknown>): Promise<number> {
  await rounds(calls, WARM_UP_ROUNDS)
  // One action for all and no promise kept by us: what is measured belongs to the contender alone.
  const { promise: allFailed, resolve } = Promise.withResolvers<void>()
  let failureCount = 0
  const fail: Action = async () => {
    if (++failureCount === WAITING) resolve()
    throw RESET
  }
  const bytesBefore = liveBytes()

  // Between a file's answer and the next immediates no timer runs: whoever waits by a timer still waits
  // when we look, however short its share of the jitter.
  await new Promise(answered => stat('.', answered))
  for (let n = 0; n < WAITING; n++) void waits(fail)
  await allFailed
  await nextTurn()

  const bytes = (liveBytes() - bytesBefore) / WAITING
  if (failureCount > WAITING) throw new Error('a wait ended before its memory was measured')
  return bytes
}

export const waitingEnds: LibraryWork = {
  id: 'D2',
  title: '100,000 operations waiting in back-off, full jitter over 5 s: their end',
  contenders: ['secondwind', 'loop', 'cockatiel'],
  figures: [
    { key: 'longestGapMs', label: 'longest event-loop gap, ms' },
    { key: 'gapP999Ms', label: 'event-loop gap, 99.9th percentile, ms' },
    { key: 'startCpuMs', label: 'CPU ms to start all' },
    { key: 'fireCpuMs', label: 'CPU ms to fire all that were left once all had started' },
  ],
  bars: [{ figure: 'longestGapMs', sign: '≤', limit: 1.2, times: 'loop' }],
  run: async calls => {
    await rounds(calls, WARM_UP_ROUNDS)
    const cpuBefore = process.cpuUsage()
    const results = await startTurnByTurn(calls)
    const startCpuMs = cpuMsSince(cpuBefore)

    // Watching 100,000 results is a long turn of our own, and moving their operations out of the young heap is
    // owed by the start: both are paid, and what fell due meanwhile has ended, before gaps are counted.
    const allSucceeded = Promise.all(results)
    collectGarbage()
    for (let turn = 0; turn < TURNS_TO_CATCH_UP; turn++) await nextTurn()

    const cpuStarted = process.cpuUsage()
    const gaps = monitorEventLoopDelay({ resolution: 1 })
    gaps.enable()
    await allSucceeded
    gaps.disable()
    return {
      longestGapMs: gaps.max / 1e6,
      gapP999Ms: gaps.percentile(99.9) / 1e6,
      startCpuMs,
      fireCpuMs: cpuMsSince(cpuStarted),
    }
  },
}

/** In turns: started at one go, the first waits would be overdue before the last began, and end all together. */
async function startTurnByTurn(calls: Calls): Promise<Promise<unknown>[]> {
  const results: Promise<unknown>[] = []
  while (results.length < WAITING) {
    for (let n = 0; n < STARTED_PER_TURN; n++) results.push(calls.waitsLongJittered!(failingOnce()))
    await nextTurn()
  }
  return results
}

/** Typed arrays lie outside the heap and count all the same. */
function liveBytes(): number {
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function collectGarbage(): void {
  if (gc === undefined) throw new Error('needs --expose-gc')
  gc()
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
