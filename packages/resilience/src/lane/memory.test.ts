import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { allowance, end, limitAt, newLane, opensAt, start, type LaneState } from './decide.ts'
import { laneFrom, memoryOf } from './memory.ts'
import { withLaneDefaults, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000
const policy: LanePolicy = withLaneDefaults({
  limit: 50,
  breaker: { window: 'consecutive', consecutiveFailures: 2, openMs: 10_000, probes: 2 },
  rateLimit: { perSecond: 5, burst: 20 },
  limiter: { kind: 'aimd', initialLimit: 30 },
})

/** A lane after so many ends, each a while after the one before. */
function livedThrough(steps: readonly { readonly afterMs: number; readonly kind: string }[]): [LaneState, number] {
  const state = newLane(policy, NOW)
  let now = NOW
  for (const { afterMs, kind } of steps) {
    now += afterMs
    const permit = start(policy, state, { kind: 'first', underWay: 0, allowedUnder: 1 }, now)
    if (permit === undefined) continue
    const outcome = kind === 'good' ? SUCCESS : kind === 'busy' ? failure('throttled', 5_000) : failure('transient')
    end(policy, state, permit, { outcome, durationMs: 20, inFlight: 20, roll: 0.5 }, now)
  }
  return [state, now]
}

const anyLife = fc.array(
  fc.record({ afterMs: fc.constantFrom(0, 100, 3_000, 12_000), kind: fc.constantFrom('good', 'bad', 'busy') }),
  { maxLength: 40 },
)

describe("a lane's memory", () => {
  it('is taken up by the next keeper where it was left: through JSON, the same gates and the same limit', () => {
    fc.assert(
      fc.property(anyLife, fc.constantFrom(0, 1_000, 9_000, 60_000), (life, laterMs) => {
        const [state, now] = livedThrough(life)
        const next = laneFrom(policy, JSON.parse(JSON.stringify(memoryOf(state, now))), now)
        const later = now + laterMs
        assert.equal(later < opensAt(next), later < opensAt(state))
        if (later < opensAt(state)) assert.equal(opensAt(next), opensAt(state))
        assert.equal(limitAt(policy, next, later), limitAt(policy, state, later))
        assert.equal(next.breaker.openings, state.breaker.openings)
        assert.deepEqual(memoryOf(next, now), memoryOf(state, now))
      }),
    )
  })

  it('holds no tokens and no budget: the next keeper begins with neither', () => {
    const [state] = livedThrough([{ afterMs: 0, kind: 'good' }])
    const next = laneFrom(policy, memoryOf(state, NOW), NOW)
    assert.deepEqual(allowance(policy, next, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 200 })
    assert.deepEqual(allowance(policy, next, NOW + 4_000, 0).retryHold?.reason, 'budget')
    assert.equal(allowance(policy, next, NOW + 10_000, 0).retry, 20, 'after a window it is whole')
    const byRate = withLaneDefaults({ budget: { kind: 'rate', perSecond: 1, burst: 10 } })
    const third = laneFrom(byRate, {}, NOW)
    assert.equal(allowance(byRate, third, NOW, 0).retry, 0)
    assert.equal(allowance(byRate, third, NOW + 1_000, 0).retry, 1)
  })

  it('that is not there, or is none, means one at a time to begin with', () => {
    const wrong: readonly unknown[] = [
      undefined,
      null,
      {},
      'closed',
      { phase: 'ajar', since: 0, until: 0, openings: 0, limit: null },
      { phase: 'open', since: 0, until: 'soon', openings: 0, limit: null },
      { phase: 'closed', since: 0, until: 0, openings: -1, limit: null },
      { phase: 'closed', since: 0, until: 0, openings: 0, limit: NaN },
    ]
    for (const memory of wrong) {
      const state = laneFrom(policy, memory, NOW)
      assert.equal(limitAt(policy, state, NOW), 1, JSON.stringify(memory))
      assert.equal(opensAt(state) <= NOW, true)
    }
    const plain = withLaneDefaults({})
    assert.equal(limitAt(plain, laneFrom(plain, undefined, NOW), NOW + 4_000), 4)
  })

  it('never keeps a lane shut for longer than its policy could have', () => {
    const memory = { phase: 'open', since: 0, until: NOW * 2, openings: 3, limit: null }
    assert.equal(opensAt(laneFrom(policy, memory, NOW)), NOW + 300_000)
    assert.equal(opensAt(laneFrom(policy, { ...memory, phase: 'held' }, NOW)), NOW + 300_000)
  })
})
