/** Targets and measures that several rows share. */
import { deliveredAfter, firstSuccessAfter, requestsUntil, type Measure, type Reply } from './row.test-kit.ts'
import type { TargetCall, TargetRule } from './row.test-kit.ts'

export const SECOND = 1_000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE

/** A healthy target answers in 10 to 20 ms. */
const QUICKEST_MS = 10
export const SLOWEST_MS = 20

/** What a healthy destination may be late because of others, or of its own gates. */
export const UNNOTICED_MS = 100

export function answer({ random }: TargetCall, status: number): Reply {
  return { kind: 'answers', status, afterMs: QUICKEST_MS + (SLOWEST_MS - QUICKEST_MS) * random() }
}

export function failingTimes(times: number): TargetRule {
  return call => answer(call, call.attempt > times ? 200 : 503)
}

export function downUntil(backAtMs: number): TargetRule {
  return call => answer(call, call.atMs < backAtMs ? 503 : 200)
}

export function firstSuccess(backAtMs: number): Measure {
  return { say: 'first success after its return', unit: 'ms', of: run => firstSuccessAfter(run, backAtMs) }
}

export function sinceReturn(share: number, backAtMs: number): Measure {
  const say = `${share === 1 ? 'all' : `${share * 100} %`} delivered, after its return`
  return { say, unit: 'ms', of: run => deliveredAfter(run, share, backAtMs) }
}

export function whileDown(untilMs: number): Measure {
  return { say: 'requests while down', unit: 'requests', of: run => requestsUntil(run, untilMs) }
}

export function dead(): Measure {
  return { say: 'given up', unit: 'tasks', of: run => run.dead, must: 0 }
}
