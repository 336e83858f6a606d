/** C: what a retry costs that is needed. */
import { type Action, type Calls, RESET } from '../contenders/contender.ts'
import type { LibraryWork } from './work.ts'

const CALLERS = 1_000
const WARM_UP_ROUNDS = 40
const MEASURED_CPU_MS = 700

export const oneFailure: LibraryWork = {
  id: 'C',
  title: 'one failure, then success: 1,000 callers at once, back-off 1 ms',
  contenders: ['secondwind', 'loop', 'loop-abortable', 'cockatiel', 'p-retry', 'async-retry', 'effect'],
  figures: [{ key: 'cpuMicrosPerCall', label: 'CPU µs per call' }],
  bars: [
    { figure: 'cpuMicrosPerCall', sign: '≤', limit: 0.9, times: 'loop' },
    { figure: 'cpuMicrosPerCall', sign: '<', limit: 1, times: 'cockatiel' },
    { figure: 'cpuMicrosPerCall', sign: '<', limit: 1, times: 'p-retry' },
    { figure: 'cpuMicrosPerCall', sign: '<', limit: 1, times: 'effect' },
  ],
  run: async calls => {
    await rounds(calls, WARM_UP_ROUNDS)
    const before = process.cpuUsage()
    let callCount = 0
    let cpuMicros = 0
    while (cpuMicros < MEASURED_CPU_MS * 1_000) {
      await rounds(calls, 1)
      callCount += CALLERS
      const { user, system } = process.cpuUsage(before)
      cpuMicros = user + system
    }
    return { cpuMicrosPerCall: cpuMicros / callCount }
  },
}

/** A round ends when its last caller has succeeded. */
export async function rounds(calls: Calls, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const results: Promise<unknown>[] = []
    for (let caller = 0; caller < CALLERS; caller++) results.push(calls.retriesSoon!(failingOnce()))
    await Promise.all(results)
  }
}

export function failingOnce(): Action {
  let hasFailed = false
  return async () => {
    if (hasFailed) return 1
    hasFailed = true
    throw RESET
  }
}
