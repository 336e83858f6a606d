import { DEFAULT_POLICY, plainDelayMs } from '@secondwind/resilience'
import { sayMs } from '../plots/format.ts'
import { contendedRow, STRATEGIES, type Strategy } from '../reproductions/jitter.ts'
import { claim, type Claim, type Runs, type WorkedCase } from './worked-case.ts'

/** What is often said about backoff and jitter, held against the published program and against arithmetic. */
export const conclusionsCase: WorkedCase = {
  name: 'conclusions',
  inputs:
    '100 clients that write one row with a version, as in the published program; and 100 ms, doubled fifteen times',
  variants: () => Object.fromEntries(STRATEGIES.map(strategy => [strategy, contendedRow(strategy, 100)])),
  claims: runs => [...aboutWork(runs), aboutTime(runs), aboutWaits()],
}

function aboutWork({ of }: Runs): Claim[] {
  const writes = (strategy: Strategy): number => of(strategy).dependencies['row']!.calls
  const note = 'the published program finds full jitter least, equal a little more, decorrelated more than both'
  const least = leastOf(writes)
  return [
    { what: 'does the least work', theirs: 'decorrelated', ours: least, holds: least === 'decorrelated', note },
    claim('work that full jitter saves against equal', 4.5, writes('equal') / writes('full'), { unit: 'times', note }),
    claim('work that full jitter saves against none', 10, writes('none') / writes('full'), {
      unit: 'times',
      note: 'the published program finds three times as many writes without a wait',
    }),
  ]
}

function aboutTime({ of }: Runs): Claim {
  const fastest = leastOf(strategy => of(strategy).endedAtMs)
  const note = 'who does not wait is done first, at three times the work; full and decorrelated are about as fast'
  return { what: 'is done first', theirs: 'full', ours: fastest, holds: fastest === 'full', note }
}

function leastOf(value: (strategy: Strategy) => number): Strategy {
  return STRATEGIES.reduce((least, other) => (value(other) < value(least) ? other : least))
}

const NINETY_MINUTES_MS = 5_400_000
const DOUBLED = 15

function aboutWaits(): Claim {
  const ours = plainDelayMs({ ...DEFAULT_POLICY, initialDelayMs: 100, maxDelayMs: Infinity }, DOUBLED + 1)
  return {
    what: 'the wait without a cap',
    theirs: 'over 90 min',
    ours: sayMs(ours),
    holds: ours > NINETY_MINUTES_MS,
    note: '0.1 s doubled fifteen times is 3,277 s',
    measured: { unit: 'ms', ours, least: NINETY_MINUTES_MS },
  }
}
