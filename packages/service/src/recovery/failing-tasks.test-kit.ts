/** Destinations that are well, and tasks that are not: some fail once or twice, some always. */
import { deliveredAfter, undelivered, waitOf, type Arrivals, type Measure, type Row } from './row.test-kit.ts'
import { answer, dead, failingTimes, HOUR, MINUTE, SECOND, SLOWEST_MS } from './parts.test-kit.ts'

/** First attempts that fail are retried within milliseconds, and none has long to live. */
const QUICK = { initialDelayMs: 50, multiplier: 2, maxDelayMs: 400, totalBudgetMs: 20 * SECOND }

export function firstAttemptsFail(): Row {
  return {
    name: 'first-attempts-fail',
    title: '350 tasks 1 ms apart, the first attempt of each answered 503, the second 200; deadline 20 s',
    isVirtual: false,
    arrivals: [{ count: 350, everyMs: 1 }],
    policy: QUICK,
    target: () => failingTimes(1),
    endsAtMs: 2 * MINUTE,
    measures: [
      { say: 'all delivered', unit: 'ms', of: run => deliveredAfter(run, 1), must: 5 * SECOND, aim: SECOND },
      dead(),
    ],
  }
}

export function killed(): Row {
  return {
    ...firstAttemptsFail(),
    name: 'kill',
    title:
      '300 tasks as in first-attempts-fail, the service killed 100 ms after the first was taken, and started again',
    arrivals: [{ count: 300, everyMs: 1 }],
    killAfterMs: 100,
    endsAtMs: 2 * MINUTE,
    measures: [
      {
        say: 'all delivered, after the restart',
        unit: 'ms',
        of: run => deliveredAfter(run, 1, run.restartedAtMs),
        must: 20 * SECOND,
        aim: 8 * SECOND,
      },
      { say: 'accepted and not delivered', unit: 'tasks', of: undelivered, must: 0 },
      dead(),
    ],
  }
}

interface Practice extends Pick<Row, 'name' | 'measures'> {
  readonly arrivals: Arrivals
}

export function practice({ name, arrivals, measures }: Practice): Row {
  const { count, everyMs } = arrivals
  return {
    name,
    title: `${count} practice tasks \`503x2\`, ${everyMs === 0 ? 'at once' : `${everyMs} ms apart`}`,
    isVirtual: false,
    arrivals: [arrivals],
    target: () => failingTimes(2),
    endsAtMs: 2 * MINUTE,
    measures: [...measures, dead()],
  }
}

export function poison(): Row {
  const isGood = (task: number): boolean => partOf(task) >= 0.3
  return {
    name: 'poison-30',
    title: '6 000 tasks 10 ms apart, 30 % of them always fail',
    isVirtual: false,
    arrivals: [{ count: 6_000, everyMs: 10 }],
    counts: isGood,
    target: () => call => answer(call, isGood(call.task) ? 200 : 503),
    endsAtMs: 3 * MINUTE,
    measures: [
      {
        say: 'wait of 99 % of the others, beyond the answer',
        unit: 'ms',
        of: run => waitOf(run, 0.99) - SLOWEST_MS,
        must: SECOND,
      },
      { say: 'the others not delivered', unit: 'tasks', of: undelivered, must: 0 },
    ],
  }
}

export function poisonThenMinutes({ name, isHiccup }: { readonly name: string; readonly isHiccup: boolean }): Row {
  const poisoned = 200
  const isGood = (task: number): boolean => task >= poisoned
  const median: Measure = {
    say: 'median wait of the good ones',
    unit: 'ms',
    of: run => waitOf(run, 0.5),
    must: 10 * SECOND,
    aim: 5 * SECOND,
  }
  const most: Measure = {
    say: 'wait of 99 % of the good ones',
    unit: 'ms',
    of: run => waitOf(run, 0.99),
    must: MINUTE,
    aim: 5 * SECOND,
  }
  const longest: Measure = { say: 'longest wait of a good one', unit: 'ms', of: run => waitOf(run, 1) }
  return {
    name,
    title: `200 tasks that always fail at once, then a good one a minute${isHiccup ? ', each of which fails once' : ''}`,
    isVirtual: true,
    arrivals: [
      { count: poisoned, everyMs: 0 },
      { count: 360, everyMs: MINUTE, fromMs: MINUTE },
    ],
    counts: isGood,
    target: () => call => answer(call, isGood(call.task) && call.attempt > (isHiccup ? 1 : 0) ? 200 : 503),
    endsAtMs: 8 * HOUR,
    measures: isHiccup ? [median, longest] : [most, longest],
  }
}

/** From 0 to 1, spread evenly over consecutive tasks. */
function partOf(task: number): number {
  return ((task * 7_919) % 100) / 100
}
