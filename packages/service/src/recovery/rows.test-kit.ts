/**
 * How soon the service has delivered what waited, once a destination is back, and what it asks of it meanwhile. Each row runs
 * in virtual time (`virtual-run.test-kit.ts`); those that take a minute or less also run live, in `npm run bench:recovery`.
 */
import { firstAttemptsFail, killed, poison, poisonThenMinutes, practice } from './failing-tasks.test-kit.ts'
import { deadHour, down, hanging, limitOne, overload, shortDeadline, tenThroughDeadHour } from './outages.test-kit.ts'
import { firstSuccess, SECOND, sinceReturn, whileDown } from './parts.test-kit.ts'
import { deliveredAfter, type Row } from './row.test-kit.ts'

export const ROWS: readonly Row[] = [
  firstAttemptsFail(),
  down({
    name: 'down-20-s',
    forMs: 20 * SECOND,
    arrivals: { count: 1_000, everyMs: 10 },
    measures: [
      { ...sinceReturn(0.99, 20 * SECOND), must: 5 * SECOND, aim: 2 * SECOND },
      { ...whileDown(20 * SECOND), must: 200, aim: 150 },
    ],
  }),
  down({
    name: 'down-3-s',
    forMs: 3 * SECOND,
    arrivals: { count: 300, everyMs: 20 },
    measures: [
      { ...firstSuccess(3 * SECOND), must: 1.5 * SECOND, aim: 0.5 * SECOND },
      { ...sinceReturn(0.99, 3 * SECOND), must: 8 * SECOND, aim: 4 * SECOND },
    ],
  }),
  hanging(),
  practice({
    name: 'practice-25',
    arrivals: { count: 25, everyMs: 200 },
    measures: [
      {
        say: 'all delivered, after the last arrived',
        unit: 'ms',
        of: run => deliveredAfter(run, 1, 4_800),
        must: 12 * SECOND,
        aim: 5 * SECOND,
      },
    ],
  }),
  practice({
    name: 'practice-1000',
    arrivals: { count: 1_000, everyMs: 0 },
    measures: [
      { say: '99 % delivered', unit: 'ms', of: run => deliveredAfter(run, 0.99), must: 20 * SECOND, aim: 8 * SECOND },
    ],
  }),
  deadHour(),
  tenThroughDeadHour(),
  poison(),
  poisonThenMinutes({ name: 'poison-then-minutes', isHiccup: false }),
  poisonThenMinutes({ name: 'poison-then-hiccups', isHiccup: true }),
  shortDeadline(),
  limitOne(),
  overload(),
  killed(),
]
