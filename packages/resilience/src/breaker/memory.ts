import { count, emptyWindow, forgetOld, type WindowCounts } from '../window/decide.ts'
import type { BreakerPolicy } from './policy.ts'

/** What a call came to, for a breaker. `ignored` says nothing about the dependency. */
export type CallResult = 'good' | 'failed' | 'slow' | 'ignored'

type CountedResult = Exclude<CallResult, 'ignored'>

/** What a closed breaker remembers of its calls: one kind for each kind of window. Changed in place. */
export type CallMemory =
  | { readonly kind: 'time'; readonly window: WindowCounts }
  | { readonly kind: 'count'; readonly latest: CountedResult[]; oldest: number; readonly sums: number[] }
  | { readonly kind: 'consecutive'; badInARow: number }

const CALLS = 0
const FAILED = 1
const SLOW = 2

export function emptyMemory(policy: BreakerPolicy, now: number): CallMemory {
  switch (policy.window) {
    case 'time':
      return { kind: 'time', window: emptyWindow(policy.windowMs, 3, now) }
    case 'count':
      return { kind: 'count', latest: [], oldest: 0, sums: [0, 0, 0] }
    case 'consecutive':
      return { kind: 'consecutive', badInARow: 0 }
  }
}

export function remember(policy: BreakerPolicy, memory: CallMemory, result: CountedResult, now: number): void {
  switch (memory.kind) {
    case 'time':
      for (const column of columnsOf(result)) count(memory.window, column, now)
      return
    case 'count':
      if (memory.latest.length === policy.windowCalls)
        for (const column of columnsOf(memory.latest[memory.oldest]!)) memory.sums[column]!--
      for (const column of columnsOf(result)) memory.sums[column]!++
      memory.latest[memory.oldest] = result
      memory.oldest = (memory.oldest + 1) % policy.windowCalls
      return
    case 'consecutive':
      memory.badInARow = result === 'good' ? 0 : memory.badInARow + 1
  }
}

/** Whether what is remembered is reason enough to open. */
export function isTooBad(policy: BreakerPolicy, memory: CallMemory, now: number): boolean {
  if (memory.kind === 'consecutive') return memory.badInARow >= policy.consecutiveFailures
  if (memory.kind === 'time') forgetOld(memory.window, now)
  const [calls, failed, slow] = (memory.kind === 'time' ? memory.window.sums : memory.sums) as [number, number, number]
  if (calls < policy.minCalls) return false
  return (
    failed / calls >= policy.failureRate || (policy.slowCallMs !== undefined && slow / calls >= policy.slowCallRate)
  )
}

const COLUMNS: { readonly [result in CountedResult]: readonly number[] } = {
  good: [CALLS],
  failed: [CALLS, FAILED],
  slow: [CALLS, SLOW],
}

function columnsOf(result: CountedResult): readonly number[] {
  return COLUMNS[result]
}
