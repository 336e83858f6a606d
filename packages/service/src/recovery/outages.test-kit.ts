/** Destinations that are down, hang, serve little, or are well. */
import { countedOf, deliveredAfter, failedPerTask, longestWaitBeside, undelivered, waitOf } from './row.test-kit.ts'
import type { Arrivals, Row, TargetRule } from './row.test-kit.ts'
import { answer, dead, downUntil, firstSuccess, HOUR, MINUTE, SECOND } from './parts.test-kit.ts'
import { sinceReturn, SLOWEST_MS, UNNOTICED_MS, whileDown } from './parts.test-kit.ts'

export interface Down extends Pick<Row, 'name' | 'measures'> {
  readonly forMs: number
  readonly arrivals: Arrivals
}

export function down({ name, forMs, arrivals, measures }: Down): Row {
  return {
    name,
    title: `503 for ${forMs / SECOND} s, ${arrivals.count} tasks ${arrivals.everyMs} ms apart`,
    isVirtual: false,
    arrivals: [arrivals],
    target: () => downUntil(forMs),
    endsAtMs: 2 * MINUTE,
    measures: [...measures, dead()],
  }
}

export function hanging(): Row {
  const untilMs = 20 * SECOND
  return {
    name: 'hanging-20-s',
    title: 'no answer for 20 s, time-out 15 s; 1 500 tasks 20 ms apart',
    isVirtual: false,
    arrivals: [{ count: 1_500, everyMs: 20 }],
    target: () => call => (call.atMs < untilMs ? { kind: 'hangs' } : answer(call, 200)),
    endsAtMs: 2 * MINUTE,
    measures: [
      { ...firstSuccess(untilMs), must: 3 * SECOND, aim: SECOND },
      sinceReturn(0.99, untilMs),
      whileDown(untilMs),
      dead(),
    ],
  }
}

export function deadHour(): Row {
  return {
    name: 'dead-hour',
    title: '503 for an hour, 100 000 tasks wait; beside them a task every 15 s to a healthy destination',
    isVirtual: true,
    arrivals: [{ count: 100_000, everyMs: 1 }],
    // Some of them while the others come back.
    beside: { count: 250, everyMs: 15 * SECOND },
    target: () => downUntil(HOUR),
    endsAtMs: 2 * HOUR,
    measures: [
      { ...whileDown(HOUR), must: 800, aim: 500 },
      { say: 'longest wait of the healthy destination', unit: 'ms', of: longestWaitBeside, must: UNNOTICED_MS },
      sinceReturn(0.99, HOUR),
      dead(),
    ],
  }
}

export function tenThroughDeadHour(): Row {
  return {
    name: 'ten-through-dead-hour',
    title: '503 for an hour, 10 tasks',
    isVirtual: true,
    arrivals: [{ count: 10, everyMs: SECOND }],
    target: () => downUntil(HOUR),
    endsAtMs: 4 * HOUR,
    measures: [{ ...sinceReturn(1, HOUR), must: 10 * MINUTE, aim: MINUTE }, dead()],
  }
}

export function shortDeadline(): Row {
  const [everyMs, downAtMs, backAtMs, deadlineMs] = [20, 20 * SECOND, 50 * SECOND, 5 * SECOND]
  // A task that arrives just before the outage has one attempt, and one that ends just after it none: neither is promised.
  const isDeliverable = (task: number): boolean =>
    task * everyMs < downAtMs - SECOND || task * everyMs + deadlineMs > backAtMs + 2 * SECOND
  return {
    name: 'short-deadline',
    title: 'latency 200 ms, deadline 5 s, 503 for 30 s; 15 000 tasks 20 ms apart',
    isVirtual: true,
    arrivals: [{ count: 15_000, everyMs }],
    policy: { initialDelayMs: 200, maxDelayMs: 1_250, totalBudgetMs: deadlineMs, attemptTimeoutMs: 5 * SECOND },
    counts: isDeliverable,
    target:
      () =>
      ({ atMs }) => ({
        kind: 'answers',
        status: atMs < downAtMs || atMs >= backAtMs ? 200 : 503,
        afterMs: 200,
      }),
    endsAtMs: 6 * MINUTE,
    measures: [
      {
        say: 'not delivered, of those that could be',
        unit: '%',
        of: run => (100 * undelivered(run)) / countedOf(run.row).length,
        must: 1,
      },
    ],
  }
}

export function limitOne(): Row {
  return {
    name: 'limit-1',
    title: 'one request at a time, a healthy target, 600 tasks 50 ms apart',
    isVirtual: false,
    arrivals: [{ count: 600, everyMs: 50 }],
    limit: 1,
    target: () => call => answer(call, 200),
    endsAtMs: 2 * MINUTE,
    measures: [
      {
        say: 'median wait, beyond the answer',
        unit: 'ms',
        of: run => waitOf(run, 0.5) - SLOWEST_MS,
        must: UNNOTICED_MS,
      },
      { say: 'wait of 99 %, beyond the answer', unit: 'ms', of: run => waitOf(run, 0.99) - SLOWEST_MS, must: SECOND },
      dead(),
    ],
  }
}

/** The last of 6 000 tasks at 50 a second, if the target never has nothing to do. */
const IDEAL_MS: number = 119 * SECOND

export function overload(): Row {
  return {
    name: 'overload',
    title: 'a target that serves 50/s and answers 503 to the others, 100/s for a minute',
    isVirtual: true,
    arrivals: [{ count: 6_000, everyMs: 10 }],
    target: () => serving(50),
    endsAtMs: 30 * MINUTE,
    measures: [
      {
        say: '99 % delivered',
        unit: 'ms',
        of: run => deliveredAfter(run, 0.99),
        must: 2.2 * IDEAL_MS,
        aim: 1.6 * IDEAL_MS,
      },
      { say: 'failed attempts', unit: 'attempts a task', of: failedPerTask, must: 4 },
      { say: 'the last delivered', unit: 'ms', of: run => deliveredAfter(run, 1) },
      dead(),
    ],
  }
}

/** A bucket that holds a tenth of a second's worth; a request that finds it empty costs nothing. */
function serving(perSecond: number): TargetRule {
  const most = perSecond / 10
  let [tokens, filledAtMs] = [most, 0]
  return ({ atMs }) => {
    tokens = Math.min(most, tokens + ((atMs - filledAtMs) * perSecond) / 1_000)
    filledAtMs = atMs
    if (tokens < 1) return { kind: 'answers', status: 503, afterMs: 5 }
    tokens--
    return { kind: 'answers', status: 200, afterMs: SLOWEST_MS }
  }
}
