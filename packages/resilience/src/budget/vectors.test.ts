import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Fault } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { Budget } from './budget.ts'
import { DEFAULT_BUDGET, type BudgetPolicy, type RatioBudget } from './policy.ts'
import { createBudget } from './run.ts'

interface Step {
  readonly at: number
  readonly do: 'deposit' | 'withdraw' | 'settle' | 'look'
  readonly times?: number
  readonly fault?: Fault | null
  readonly paidFor?: Fault | null
  readonly granted?: number
  readonly balance?: number | null
}

interface Case {
  readonly name: string
  readonly source: string
  readonly policy: BudgetPolicy
  readonly steps: readonly Step[]
}

describe('vectors/budget.json', () => {
  const url = new URL('../../../../vectors/budget.json', import.meta.url)
  const { about: _, cases, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as { about: string; cases: Case[] }

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, source, policy, steps, ...rest } of cases)
    it(`${source}: ${name}`, async () => {
      assert.deepEqual(rest, {})
      const clock = virtualClock()
      const budget = createBudget(policy, { clock })
      for (const [place, step] of steps.entries()) {
        await clock.advance(step.at - clock.monotonic())
        takeStep(budget, step, `step ${place + 1}`)
      }
    })
})

function takeStep(budget: Budget, step: Step, place: string): void {
  const { at: _, do: verb, times = 1, fault = null, paidFor = null, granted, balance, ...rest } = step
  assert.deepEqual(rest, {})
  let allowed = 0
  for (let time = 0; time < times; time++) if (act(budget, verb, fault, paidFor)) allowed++
  if (granted !== undefined) assert.equal(allowed, granted, place)
  if (balance === null) assert.equal(budget.balance, Infinity, place)
  else if (balance !== undefined)
    assert.ok(Math.abs(budget.balance - balance) < 1e-9, `${place}: ${budget.balance} is left, not ${balance}`)
}

function act(budget: Budget, verb: Step['do'], fault: Fault | null, paidFor: Fault | null): boolean {
  switch (verb) {
    case 'deposit':
      return budget.deposit() !== false
    case 'withdraw':
      return budget.tryWithdraw(fault!)
    case 'settle':
      budget.settle!(fault ?? undefined, paidFor ?? undefined)
      return true
    case 'look':
      return true
  }
}

/** What can happen to a budget, with the ms that pass before it. */
type Happening =
  | { readonly afterMs: number; readonly do: 'call' }
  | { readonly afterMs: number; readonly do: 'retry'; readonly fault: Fault }
  | { readonly afterMs: number; readonly do: 'end'; readonly well: boolean }

const anyHistory: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    fc.record({ afterMs: fc.constantFrom(0, 0, 1, 100, 5_000), do: fc.constant('call') }),
    fc.record({
      afterMs: fc.constantFrom(0, 0, 1, 100, 5_000),
      do: fc.constant('retry'),
      fault: fc.constantFrom('transient', 'throttled', 'ambiguous'),
    }),
    fc.record({ afterMs: fc.constantFrom(0, 0, 1, 30_000), do: fc.constant('end'), well: fc.boolean() }),
  ),
  { maxLength: 300 },
)

const anyRatioBudget: fc.Arbitrary<RatioBudget> = fc.record(
  {
    kind: fc.constant('ratio'),
    ratio: fc.constantFrom(0, 0.1, 0.3, 0.6, 1, 2.5),
    windowMs: fc.constantFrom(10, 1_000, 10_000, 12_345),
    minRetries: fc.constantFrom(0, 1, 5),
    reserve: fc.constantFrom(0, 3),
    of: fc.constantFrom('operations', 'attempts'),
  },
  { requiredKeys: ['kind', 'ratio', 'windowMs', 'minRetries'] },
)

const anyOtherBudget: fc.Arbitrary<BudgetPolicy> = fc.oneof(
  fc.record({
    kind: fc.constant('tokens'),
    maxTokens: fc.constantFrom(0.5, 1, 10, 1_000),
    tokenRatio: fc.constantFrom(0.001, 0.1, 0.5466, 2),
  }),
  fc.record({
    kind: fc.constant('quota'),
    capacity: fc.integer({ min: 20, max: 500 }),
    retryCost: fc.integer({ min: 0, max: 20 }),
    throttledCost: fc.integer({ min: 0, max: 20 }),
    successGain: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({
    kind: fc.constant('rate'),
    perSecond: fc.constantFrom(0.5, 10, 1_000),
    burst: fc.constantFrom(1, 2.5, 50),
  }),
  fc.record({
    kind: fc.constant('concurrent'),
    ratio: fc.constantFrom(0, 0.2, 1),
    minRetries: fc.constantFrom(0, 1, 3),
  }),
)

describe('a budget, whatever happens', () => {
  it('pays for no retry that it does not cover, and is not overdrawn by one that it pays for', () => {
    fc.assert(
      fc.property(fc.oneof(anyRatioBudget, anyOtherBudget), anyHistory, (policy, history) => {
        play(policy, history, ({ budget, granted, covered }) => {
          assert.equal(granted, covered)
          if (granted) assert.ok(budget.balance >= 0, `${budget.balance}`)
        })
      }),
      { numRuns: 500 },
    )
  })

  it('of a ratio allows no more retries than the ratio of the calls in its window, rounded up, or its floor', () => {
    fc.assert(
      fc.property(anyRatioBudget, anyHistory, (policy, history) => {
        const { ratio, windowMs, minRetries, reserve = 0, of = 'operations' } = policy
        const calls: number[] = []
        const retries: number[] = []
        play(policy, history, ({ now, happening, granted }) => {
          if (happening.do === 'call') calls.push(now)
          if (!granted) return
          const since = (instants: readonly number[], ms: number): number => instants.filter(at => at > now - ms).length
          const base = since(calls, windowMs) + (of === 'attempts' ? since(retries, windowMs) : 0)
          // Time leaves the window a tenth at a time: what is younger than nine of them is surely in it.
          assert.ok(since(retries, 0.9 * windowMs) < Math.max(minRetries, Math.ceil(ratio * base)) + reserve)
          retries.push(now)
        })
      }),
      { numRuns: 500 },
    )
  })

  it('of a ratio forgets everything after one window of silence', () => {
    fc.assert(
      fc.property(anyRatioBudget, anyHistory, (policy, history) => {
        const { budget, clock } = play(policy, history)
        clock.ms += policy.windowMs
        assert.equal(budget.balance, policy.minRetries + (policy.reserve ?? 0))
      }),
    )
  })

  it('of a rate allows no more than its burst and what has flowed in since', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0.5, 10, 1_000),
        fc.constantFrom(1, 2.5, 50),
        anyHistory,
        (perSecond, burst, history) => {
          let retries = 0
          play({ kind: 'rate', perSecond, burst }, history, ({ now, granted }) => {
            if (granted) retries++
            assert.ok(retries <= burst + (now / 1_000) * perSecond + 1e-6)
          })
        },
      ),
    )
  })

  it('is filled again by a stream of calls that succeed', () => {
    fc.assert(
      fc.property(fc.oneof(anyRatioBudget, anyOtherBudget), anyHistory, (policy, history) => {
        fc.pre(
          !(policy.kind === 'ratio' && policy.ratio === 0) &&
            !(policy.kind === 'concurrent' && policy.minRetries === 0),
        )
        const { budget, clock, endAll } = play(policy, history)
        endAll()
        // Ten a second, for as long as the slowest of them needs: a thousandth of a token for each of five hundred.
        for (let call = 0; call < 600_000 && !budget.covers!('transient'); call++) {
          clock.ms += 100
          budget.deposit()
          budget.settle!(undefined, undefined)
        }
        assert.ok(budget.covers!('transient'))
      }),
      { numRuns: 50 },
    )
  })

  it('does not gain by a clock that steps back', () => {
    for (const policy of [DEFAULT_BUDGET, { kind: 'rate', perSecond: 1, burst: 5 }] as const) {
      const clock = { ms: 100_000 }
      const budget = createBudget(policy, { clock: clockOf(clock) })
      while (budget.tryWithdraw('transient'));
      clock.ms = 0
      assert.equal(budget.tryWithdraw('transient'), false)
      clock.ms = 100_000
      assert.equal(budget.tryWithdraw('transient'), false)
    }
  })
})

describe('the tokens of gRPC', () => {
  /** Rounds of one failure and so many successes, until retries are off or it has gone on for long enough. */
  function drains(successesPerFailure: number): boolean {
    const budget = createBudget({ kind: 'tokens', maxTokens: 10, tokenRatio: 0.1 }, { clock: clockOf({ ms: 0 }) })
    for (let round = 0; round < 1_000; round++) {
      budget.settle!('transient', undefined)
      for (let success = 0; success < successesPerFailure; success++) budget.settle!(undefined, undefined)
      if (!budget.covers!('transient')) return true
    }
    return false
  }

  it('run dry exactly when more than one call in eleven fails', () => {
    assert.equal(drains(9), true)
    assert.equal(drains(10), false)
    assert.equal(drains(11), false)
  })
})

interface Scene {
  readonly now: number
  readonly happening: Happening
  readonly budget: Budget
  /** A retry wanted to begin: whether it could be paid for, and whether it was. */
  readonly covered: boolean
  readonly granted: boolean
}

/** Plays a history; attempts end in the order in which they began. */
function play(
  policy: BudgetPolicy,
  history: readonly Happening[],
  watch: (scene: Scene) => void = () => {},
): {
  readonly budget: Budget
  readonly clock: { ms: number }
  readonly endAll: () => void
} {
  const clock = { ms: 0 }
  const budget = createBudget(policy, { clock: clockOf(clock) })
  const running: (Fault | undefined)[] = []
  const end = (well: boolean): void => budget.settle!(well ? undefined : 'transient', running.shift())
  for (const happening of history) {
    clock.ms += happening.afterMs
    const covered = happening.do === 'retry' && budget.covers!(happening.fault)
    const granted = happening.do === 'retry' && budget.tryWithdraw(happening.fault)
    watch({ now: clock.ms, happening, budget, covered, granted })
    if (happening.do === 'call') {
      budget.deposit()
      running.push(undefined)
    }
    if (happening.do === 'retry' && granted) running.push(happening.fault)
    if (happening.do === 'end' && running.length > 0) end(happening.well)
  }
  const endAll = (): void => {
    while (running.length > 0) end(true)
  }
  return { budget, clock, endAll }
}

/** Nothing but the elapsed time that it is told. */
function clockOf(time: { readonly ms: number }): Clock {
  return { monotonic: () => time.ms } as Clock
}
