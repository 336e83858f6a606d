import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { closedBreaker, force, mayStart, record, type BreakerState, type Permit } from './decide.ts'
import { emptyMemory, isTooBad, remember } from './memory.ts'
import { withBreakerDefaults, type BreakerInput, type BreakerPolicy } from './policy.ts'

const permitOf = (policy: BreakerPolicy, state: BreakerState, now: number, held?: Permit): Permit => {
  const answer = mayStart(policy, state, now, held)
  assert.equal(answer.kind, 'yes')
  return (answer as { permit: Permit }).permit
}

/** Opened at 0 by one failure, half-open from 30 000 on. */
function opened(input: BreakerInput = {}): { policy: BreakerPolicy; state: BreakerState } {
  const policy = withBreakerDefaults({ window: 'consecutive', consecutiveFailures: 1, ...input })
  const state = closedBreaker(policy, 0)
  record(policy, state, permitOf(policy, state, 0), 'failed', 0)
  return { policy, state }
}

describe('a permit', () => {
  it('of an earlier generation changes nothing, though the breaker is closed again', () => {
    const policy = withBreakerDefaults({ window: 'consecutive', consecutiveFailures: 1, probes: 1 })
    const state = closedBreaker(policy, 0)
    const old = permitOf(policy, state, 0)
    record(policy, state, permitOf(policy, state, 0), 'failed', 0)
    record(policy, state, permitOf(policy, state, 30_000), 'good', 30_000)
    assert.equal(state.phase.kind, 'closed')
    record(policy, state, old, 'failed', 30_001)
    assert.equal(state.phase.kind, 'closed')
  })

  it('of an earlier probe cannot end a later one that has its number', () => {
    const { policy, state } = opened({ probes: 2 })
    const old = permitOf(policy, state, 30_000)
    record(policy, state, permitOf(policy, state, 30_000), 'failed', 30_000)
    const present = permitOf(policy, state, 60_000)
    assert.equal(present.lease, old.lease)
    record(policy, state, old, 'failed', 60_000)
    assert.equal(state.phase.kind, 'half-open')
  })

  it('is kept by a probe that asks again', () => {
    const { policy, state } = opened({ probes: 2 })
    const first = permitOf(policy, state, 30_000)
    const second = permitOf(policy, state, 30_000)
    assert.deepEqual(permitOf(policy, state, 30_001, first), first)
    assert.deepEqual(permitOf(policy, state, 30_001, second), second)
  })

  it('whose lease has ended is worth nothing: a new one, or none', () => {
    const { policy, state } = opened({ probes: 2 })
    const old = permitOf(policy, state, 30_000)
    permitOf(policy, state, 50_000)
    assert.notDeepEqual(permitOf(policy, state, 60_000, old), old)
    assert.equal(mayStart(policy, state, 60_000, old).kind, 'no')
  })
})

describe('a refusal', () => {
  it('says why and until when: forced, open, or no free probe', () => {
    const { policy, state } = opened({ probes: 1 })
    assert.deepEqual(mayStart(policy, state, 1), { kind: 'no', reason: 'breaker-open', until: 30_000 })
    permitOf(policy, state, 30_000)
    assert.deepEqual(mayStart(policy, state, 30_001), { kind: 'no', reason: 'breaker-open', until: 60_000 })
    force(policy, state, 'open', 40_000)
    assert.deepEqual(mayStart(policy, state, 40_000), { kind: 'no', reason: 'breaker-open', until: 70_000 })
  })
})

describe('probes', () => {
  for (const result of ['good', 'failed'] as const)
    it(`that ended (${result}) keep their places: no more begin than are wanted`, () => {
      const { policy, state } = opened({ window: 'count', windowCalls: 2, minCalls: 2, probes: 3, failureRate: 1 })
      record(policy, state, permitOf(policy, state, 0), 'failed', 0)
      record(policy, state, permitOf(policy, state, 30_000), result, 30_000)
      if (state.phase.kind === 'closed') return
      permitOf(policy, state, 30_000)
      permitOf(policy, state, 30_000)
      assert.equal(mayStart(policy, state, 30_000).kind, 'no')
    })

  it('open the breaker as soon as their share of failures is reached', () => {
    const policy = withBreakerDefaults({ window: 'count', windowCalls: 2, minCalls: 2, failureRate: 0.5, probes: 2 })
    const state = closedBreaker(policy, 0)
    for (let n = 0; n < 2; n++) record(policy, state, permitOf(policy, state, 0), 'failed', 0)
    record(policy, state, permitOf(policy, state, 30_000), 'failed', 30_000)
    assert.equal(state.phase.kind, 'open')
  })

  it('that are slow are judged by the rate of slow calls, not by that of failures', () => {
    const slow: BreakerInput = {
      window: 'count',
      windowCalls: 2,
      minCalls: 2,
      slowCallMs: 100,
      probes: 4,
      failureRate: 0.5,
    }
    for (const [slowCallRate, phase] of [
      [1, 'half-open'],
      [0.5, 'open'],
    ] as const) {
      const policy = withBreakerDefaults({ ...slow, slowCallRate })
      const state = closedBreaker(policy, 0)
      for (let n = 0; n < 2; n++) record(policy, state, permitOf(policy, state, 0), 'failed', 0)
      for (let n = 0; n < 2; n++) record(policy, state, permitOf(policy, state, 30_000), 'slow', 30_000)
      assert.equal(state.phase.kind, phase)
    }
  })

  it('that are slow open a breaker that counts bad calls in a row', () => {
    const { policy, state } = opened({ slowCallMs: 100, probes: 3 })
    record(policy, state, permitOf(policy, state, 30_000), 'slow', 30_000)
    assert.equal(state.phase.kind, 'open')
  })

  it('that say nothing leave no trace', () => {
    const { policy, state } = opened({ probes: 2 })
    record(policy, state, permitOf(policy, state, 30_000), 'ignored', 30_000)
    const probes = { leases: [], nextLease: 1, good: 0, failed: 0, slow: 0 }
    assert.deepStrictEqual(state.phase, { kind: 'half-open', probes })
  })

  it('may be slow where nobody asked: they are answers', () => {
    const policy = withBreakerDefaults({ window: 'count', windowCalls: 2, minCalls: 2, probes: 1 })
    const state = closedBreaker(policy, 0)
    for (let n = 0; n < 2; n++) record(policy, state, permitOf(policy, state, 0), 'failed', 0)
    record(policy, state, permitOf(policy, state, 30_000), 'slow', 30_000)
    assert.equal(state.phase.kind, 'closed')
  })

  it('grow the generation at every change of phase', () => {
    const { policy, state } = opened({ probes: 1 })
    const generations = [state.generation]
    record(policy, state, permitOf(policy, state, 30_000), 'good', 30_000)
    generations.push(state.generation)
    assert.deepEqual(generations, [1, 3])
  })
})

describe('the memory of calls', () => {
  it('of a single call is that call', () => {
    const policy = { ...withBreakerDefaults({ window: 'count', windowCalls: 1 }), minCalls: 1 }
    const memory = emptyMemory(policy, 0)
    assert.deepEqual(memory, { kind: 'count', latest: [], oldest: 0, sums: [0, 0, 0] })
    remember(policy, memory, 'failed', 0)
    assert.equal(isTooBad(policy, memory, 0), true)
    remember(policy, memory, 'good', 0)
    assert.equal(isTooBad(policy, memory, 0), false)
  })

  it('forgets what has left the window, also when nobody called since', () => {
    const policy = withBreakerDefaults({ minCalls: 2 })
    const memory = emptyMemory(policy, 0)
    remember(policy, memory, 'failed', 0)
    remember(policy, memory, 'failed', 0)
    assert.equal(isTooBad(policy, memory, 1), true)
    assert.equal(isTooBad(policy, memory, policy.windowMs), false)
  })

  it('does not hold slowness against anybody where the policy does not ask for it', () => {
    const policy = withBreakerDefaults({ minCalls: 2, slowCallRate: 0.1 })
    const memory = emptyMemory(policy, 0)
    for (let n = 0; n < 5; n++) remember(policy, memory, 'slow', 0)
    assert.equal(isTooBad(policy, memory, 0), false)
  })
})
