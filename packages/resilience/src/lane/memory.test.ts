import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { allowance, end, lanePhase, limitAt, newLane, start, type LaneState } from './decide.ts'
import { kindAfter, START_KINDS } from './kind.ts'
import { laneFrom, memoryOf } from './memory.ts'
import { withLaneDefaults, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000
const policy: LanePolicy = withLaneDefaults({
  limit: 50,
  credit: { most: { first: 2, retry: 6, late: 4 } },
  limiter: { kind: 'aimd', initialLimit: 30 },
})
const LIMITED = withLaneDefaults({ rateLimit: { perSecond: 5, burst: 20 } })

/** A lane after so many ends, each a while after the one before. */
function livedThrough(
  steps: readonly { readonly afterMs: number; readonly kind: string; readonly made: number }[],
): [LaneState, number] {
  const state = newLane(policy, NOW)
  let now = NOW
  for (const { afterMs, kind, made } of steps) {
    now += afterMs
    const wish = { kind: kindAfter(made), underWay: 0, allowedUnder: 1 }
    const payment = start(policy, state, wish, { now, roll: 0.5 })
    if (payment === undefined) continue
    const outcome = kind === 'good' ? SUCCESS : kind === 'busy' ? failure('throttled', 5_000) : failure('transient')
    end(policy, state, payment, { outcome, durationMs: 20, inFlight: 20, roll: 0.5 }, now)
  }
  return [state, now]
}

const anyLife = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 100, 3_000, 12_000),
    kind: fc.constantFrom('good', 'bad', 'bad', 'bad', 'busy'),
    made: fc.constantFrom(0, 0, 1, 4),
  }),
  { maxLength: 40, size: 'max' },
)

const OPEN = {
  heldUntil: 0,
  limit: null,
  silentSince: NOW - 90_000,
  firstBalance: 0,
  firstEmptySince: NOW - 60_000,
  firstProbeAt: NOW + 700,
  retryBalance: 1,
  retryEmptySince: null,
  retryProbeAt: 0,
  lateBalance: 1,
  lateEmptySince: null,
  lateProbeAt: 0,
}

describe("a lane's memory", () => {
  it('is taken up by the next steward where it was left: through JSON, the same gates, limit and open breaker', () => {
    fc.assert(
      fc.property(anyLife, fc.constantFrom(0, 1_000, 9_000, 60_000), (life, laterMs) => {
        const [state, now] = livedThrough(life)
        const memory = memoryOf(policy, state)
        const next = laneFrom(policy, JSON.parse(JSON.stringify(memory)), now)
        assert.deepEqual(memoryOf(policy, next), memory)
        assert.equal(lanePhase(policy, next) === 'open', lanePhase(policy, state) === 'open')
        const [was, is] = [state, next].map(each => allowance(policy, each, now + laterMs, 0))
        assert.ok(was && is)
        assert.deepEqual(is.hold, was.hold)
        for (const kind of START_KINDS) {
          assert.equal(is[kind] > 0, was[kind] > 0)
          assert.ok(is[kind] <= was[kind])
          assert.equal(is.kindHolds[kind]?.until, was.kindHolds[kind]?.until)
        }
        assert.equal(limitAt(policy, next, now), limitAt(policy, state, now))
      }),
    )
  })

  it('of a lane that is well is always the same: there is nothing to write', () => {
    const fresh = newLane(policy, NOW)
    const memory = memoryOf(policy, fresh)
    start(policy, fresh, { kind: 'retry', underWay: 0, allowedUnder: 1 }, { now: NOW, roll: 0 })
    assert.deepEqual(memoryOf(policy, fresh), memory)
  })

  it('holds no tokens and no budget: where there is a rate, the next steward begins with nothing to spend', () => {
    const next = laneFrom(LIMITED, memoryOf(LIMITED, newLane(LIMITED, NOW)), NOW)
    assert.deepEqual(allowance(LIMITED, next, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 200 })
    const byRate = withLaneDefaults({ budget: { kind: 'rate', perSecond: 1, burst: 10 } })
    const third = laneFrom(byRate, {}, NOW)
    assert.equal(allowance(byRate, third, NOW, 0).retry, 0)
    assert.equal(allowance(byRate, third, NOW + 1_000, 0).retry, 1)
  })

  it('that is not there, or is none, means a quarter of the credit, and no wait', () => {
    const wrong: readonly unknown[] = [
      undefined,
      null,
      {},
      'closed',
      { phase: 'open', since: 0, until: NOW + 9, openings: 0, limit: null },
      { ...OPEN, firstBalance: -1 },
      { ...OPEN, lateProbeAt: 'soon' },
      { ...OPEN, retryEmptySince: undefined },
      { ...OPEN, heldUntil: null },
      { ...OPEN, limit: NaN },
      { ...OPEN, silentSince: Infinity },
    ]
    const plain = withLaneDefaults({})
    for (const memory of wrong) {
      const { total, first, retry, late, hold } = allowance(plain, laneFrom(plain, memory, NOW), NOW, 0)
      assert.deepEqual([total, first, retry, late, hold], [100, 5, 15, 5, undefined], JSON.stringify(memory))
    }
    const { first, retry, late } = allowance(plain, laneFrom(plain, OPEN, NOW), NOW, 0)
    assert.deepEqual([first, retry, late], [0, 1, 1], 'and one that is right is read')
  })

  it('never keeps a lane shut for longer than its policy could have, nor gives it more', () => {
    const late = { ...OPEN, heldUntil: NOW * 2, firstProbeAt: NOW * 2, lateBalance: 1e9, firstEmptySince: NOW * 2 }
    const plain = withLaneDefaults({})
    const state = laneFrom(plain, late, NOW)
    assert.deepEqual(allowance(plain, state, NOW, 0).hold, { reason: 'retry-after', until: NOW + 300_000 })
    const { first, late: lateCredit } = state.credit.purses
    assert.deepEqual([first.probeAt, first.emptySince, lateCredit.balance], [NOW + 60_000, NOW, 20])
  })
})
