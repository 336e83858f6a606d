import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { permanent, transient } from '../classify/marks.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import { virtualClock } from '../testing/index.ts'
import type { WindowCounts } from '../window/decide.ts'
import { closedBreaker, mayStart, record, type Permit } from './decide.ts'
import type { CallResult } from './memory.ts'
import { withBreakerDefaults, type BreakerInput } from './policy.ts'
import { createBreaker, type Breaker } from './run.ts'

const failure = transient(new Error('down'))

function setting(policy: BreakerInput = {}) {
  const clock = virtualClock()
  const events: RetryEvent[] = []
  const breaker = createBreaker(policy, { clock, name: 'db', telemetry: event => events.push(event) })
  const call = (result: 'good' | 'bad') =>
    breaker
      .run(() => (result === 'good' ? Promise.resolve() : Promise.reject(failure)))
      .catch((error: unknown) => error)
  const calls = async (result: 'good' | 'bad', times: number) => {
    for (let n = 0; n < times; n++) await call(result)
  }
  return { clock, events, breaker, call, calls }
}

describe('a closed breaker', () => {
  it('opens when half of at least twenty calls within a minute failed', async () => {
    const { breaker, calls } = setting()
    await calls('good', 10)
    await calls('bad', 9)
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 1)
    assert.equal(breaker.phase, 'open')
  })

  it('never opens below its minimum of calls', async () => {
    const { breaker, calls } = setting()
    await calls('bad', 19)
    assert.equal(breaker.phase, 'closed')
  })

  it('forgets what is older than its window, however long nobody called', async () => {
    const { breaker, calls, clock } = setting()
    await calls('bad', 19)
    await clock.advance(3_600_000)
    await calls('bad', 19)
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 1)
    assert.equal(breaker.phase, 'open')
  })

  it('over a window of counts judges the latest calls only', async () => {
    const { breaker, calls } = setting({ window: 'count', windowCalls: 10, minCalls: 10 })
    await calls('good', 100)
    await calls('bad', 4)
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 1)
    assert.equal(breaker.phase, 'open')
  })

  it('over failures in a row is reset by one success', async () => {
    const { breaker, calls } = setting({ window: 'consecutive', consecutiveFailures: 3 })
    await calls('bad', 2)
    await calls('good', 1)
    await calls('bad', 2)
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 1)
    assert.equal(breaker.phase, 'open')
  })

  it('opens for slow calls where they count', async () => {
    const { breaker, clock } = setting({ slowCallMs: 100, slowCallRate: 0.5, minCalls: 4 })
    for (let n = 0; n < 4; n++) {
      const done = breaker.run(() => clock.sleep(n % 2 === 0 ? 200 : 50))
      await clock.drain()
      await done
    }
    assert.equal(breaker.phase, 'open')
  })

  it('takes a known permanent failure for an answer, and an unknown error for a failure', async () => {
    const { breaker } = setting({ window: 'consecutive', consecutiveFailures: 2 })
    for (let n = 0; n < 5; n++) await breaker.run(() => Promise.reject(permanent(new Error('404')))).catch(() => {})
    assert.equal(breaker.phase, 'closed')
    for (let n = 0; n < 2; n++) await breaker.run(() => Promise.reject(new Error('?'))).catch(() => {})
    assert.equal(breaker.phase, 'open')
  })
})

describe('an open breaker', () => {
  const opened = async (policy: BreakerInput = {}) => {
    const made = setting({ window: 'consecutive', consecutiveFailures: 1, ...policy })
    await made.calls('bad', 1)
    return made
  }

  it('refuses without calling, and says when to ask again', async () => {
    const { breaker } = await opened()
    let called = false
    const error = (await breaker.run(() => (called = true)).catch((refusal: unknown) => refusal)) as RefusedError
    assert.ok(error instanceof RefusedError)
    assert.deepEqual([error.code, error.retryAfterMs, called], ['breaker-open', 30_000, false])
  })

  it('closes again after its probes succeeded', async () => {
    const { breaker, calls, clock } = await opened()
    await clock.advance(30_000)
    assert.equal(breaker.phase, 'half-open')
    await calls('good', 5)
    assert.equal(breaker.phase, 'closed')
  })

  it('opens again when a probe fails, for longer each time where it is told to', async () => {
    const { breaker, calls, clock } = await opened({ openMultiplier: 2, maxOpenMs: 100_000 })
    for (const openMs of [30_000, 60_000, 100_000, 100_000]) {
      await clock.advance(openMs - 1)
      assert.equal(breaker.phase, 'open')
      await clock.advance(1)
      await calls('bad', 1)
    }
    await clock.advance(100_000)
    await calls('good', 5)
    await calls('bad', 1)
    await clock.advance(30_000)
    assert.equal(breaker.phase, 'half-open', 'a recovery forgets the openings before it')
  })

  it('judges probes by the failure rate, as soon as the rest could not change the verdict', async () => {
    const { breaker, calls, clock } = setting({ minCalls: 2 })
    await calls('bad', 2)
    await clock.advance(30_000)
    await calls('bad', 2)
    assert.equal(breaker.phase, 'half-open')
    await calls('good', 3)
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 2)
    await clock.advance(30_000)
    await calls('bad', 3)
    assert.equal(breaker.phase, 'open')
  })

  it('lets a hung probe block nobody: others are refused at once, and its place is free after a while', async () => {
    const { breaker, call, clock } = await opened({ probes: 1 })
    await clock.advance(30_000)
    void breaker.run(() => new Promise(() => {}))
    assert.ok((await call('good')) instanceof RefusedError)
    await clock.advance(30_000)
    assert.equal(await call('good'), undefined)
    assert.equal(breaker.phase, 'closed')
  })

  it('gives the place of an ignored probe back', async () => {
    const { breaker, calls, clock } = await opened({ probes: 1 })
    await clock.advance(30_000)
    await breaker.run(() => Promise.reject(new DOMException('gone', 'AbortError'))).catch(() => {})
    assert.equal(breaker.phase, 'half-open')
    await calls('good', 1)
    assert.equal(breaker.phase, 'closed')
  })

  it('is not changed by calls that began before it opened', async () => {
    const { breaker, clock, calls } = setting({ window: 'consecutive', consecutiveFailures: 1 })
    const slow = breaker.run(() => clock.sleep(31_000))
    const slowFailure = breaker.run(() => clock.sleep(31_000).then(() => Promise.reject(failure))).catch(() => {})
    await calls('bad', 1)
    await clock.advance(30_500)
    assert.equal(breaker.phase, 'half-open')
    await clock.drain()
    await Promise.all([slow, slowFailure])
    assert.equal(breaker.phase, 'half-open')
  })

  it('tells of every change of phase', async () => {
    const { events, calls, clock } = await opened({ probes: 1 })
    await clock.advance(30_000)
    await calls('good', 1)
    assert.deepEqual(
      events.map(event => event.kind === 'breaker-changed' && `${event.name}: ${event.from} → ${event.to}`),
      ['db: closed → open', 'db: open → half-open', 'db: half-open → closed'],
    )
  })
})

describe('by hand', () => {
  it('a breaker stays open or closed until it is released, then begins anew', async () => {
    const { breaker, call, calls, clock } = setting({ window: 'consecutive', consecutiveFailures: 1 })
    breaker.forceOpen()
    await clock.advance(3_600_000)
    assert.ok((await call('good')) instanceof RefusedError)
    assert.equal(breaker.phase, 'forced-open')
    breaker.forceClosed()
    await calls('bad', 50)
    assert.equal(breaker.phase, 'forced-closed')
    breaker.release()
    assert.equal(breaker.phase, 'closed')
    await calls('bad', 1)
    assert.equal(breaker.phase, 'open')
  })

  it('refuses a document that cannot be kept, with all of its problems', () => {
    const input = { failureRate: 2, minCalls: 1, opneMs: 3 } as BreakerInput
    assert.throws(
      () => createBreaker(input),
      (error: InvalidPolicyError) => error.problems.length === 3 && /did you mean openMs/.test(error.message),
    )
    assert.throws(() => createBreaker({ window: 'count', windowCalls: 5, minCalls: 10 }), /never reached/)
    assert.throws(() => createBreaker({ openMs: 1_000, maxOpenMs: 10 }), /maxOpenMs/)
  })
})

describe('a snapshot', () => {
  const phases: { readonly [phase: string]: (breaker: Breaker, made: ReturnType<typeof setting>) => Promise<void> } = {
    closed: (_, { calls }) => calls('bad', 1),
    open: (_, { calls }) => calls('bad', 2),
    'half-open': async (breaker, { calls, clock }) => {
      await calls('bad', 2)
      await clock.advance(30_000)
      void breaker.run(() => new Promise(() => {}))
    },
    'forced-open': async breaker => breaker.forceOpen(),
  }
  for (const [phase, bring] of Object.entries(phases))
    it(`of a breaker that is ${phase} goes on where it was, in another process and through JSON`, async () => {
      const made = setting({ window: 'consecutive', consecutiveFailures: 2, probes: 1 })
      await made.clock.advance(12_345)
      await bring(made.breaker, made)
      const other = setting({ window: 'consecutive', consecutiveFailures: 2, probes: 1 })
      await other.clock.advance(made.clock.monotonic())
      other.breaker.restore(JSON.parse(JSON.stringify(made.breaker.snapshot())))
      assert.equal(other.breaker.phase, made.breaker.phase)
      for (const ms of [0, 29_999, 1, 30_000]) {
        await Promise.all([made.clock.advance(ms), other.clock.advance(ms)])
        assert.equal(other.breaker.phase, made.breaker.phase)
        assert.equal(other.breaker.ask() instanceof RefusedError, made.breaker.ask() instanceof RefusedError)
      }
    })

  it('counts the wall time that passed before it was restored', async () => {
    const { breaker, calls, clock } = setting({ window: 'consecutive', consecutiveFailures: 1 })
    await calls('bad', 1)
    const snapshot = breaker.snapshot()
    const later = virtualClock({ now: clock.now() + 29_000 })
    const restored = createBreaker({ window: 'consecutive', consecutiveFailures: 1 }, { clock: later })
    restored.restore(snapshot)
    assert.equal(restored.phase, 'open')
    await later.advance(1_000)
    assert.equal(restored.phase, 'half-open')
  })

  it('keeps the window of a closed breaker, and drops it when the policy judges by another', async () => {
    const made = setting({ minCalls: 4 })
    await made.calls('bad', 3)
    const same = setting({ minCalls: 4 })
    same.breaker.restore(made.breaker.snapshot())
    await same.calls('bad', 1)
    assert.equal(same.breaker.phase, 'open')
    const other = setting({ window: 'count', minCalls: 4 })
    other.breaker.restore(made.breaker.snapshot())
    await other.calls('bad', 3)
    assert.equal(other.breaker.phase, 'closed')
  })

  it('that is none is refused', () => {
    const { breaker } = setting()
    const state = { generation: 1, openings: 0, forced: null }
    const phases: readonly unknown[] = [
      { kind: 'ajar' },
      { kind: 'open', until: null },
      { kind: 'half-open', probes: { leases: [], nextLease: 0 } },
      { kind: 'closed', memory: { kind: 'count' } },
      { kind: 'closed', memory: { kind: 'time' } },
    ]
    const wrong: readonly unknown[] = [
      null,
      {},
      ...phases.map(phase => ({ takenAt: 1, monotonicAt: 1, state: { ...state, phase } })),
      { takenAt: 1, monotonicAt: 1, state: { ...state, openings: undefined, phase: { kind: 'open', until: 1 } } },
      { takenAt: 1, monotonicAt: 1, state: { ...state, forced: 'sideways', phase: { kind: 'open', until: 1 } } },
    ]
    for (const input of wrong) assert.throws(() => breaker.restore(input as never), InvalidPolicyError)
  })

  it('whose counts cannot have been counted is refused', async () => {
    const timed = setting()
    await timed.calls('bad', 1)
    const { window } = (timed.breaker.snapshot().state.phase as { memory: { window: WindowCounts } }).memory
    const counted = setting({ window: 'count' })
    await counted.calls('bad', 1)
    const { memory } = counted.breaker.snapshot().state.phase as { memory: object }
    const [first, ...others] = window.slices
    const wrong: readonly object[] = [
      { kind: 'time', window: { ...window, current: 10 } },
      { kind: 'time', window: { ...window, current: -1 } },
      { kind: 'time', window: { ...window, current: 0.5 } },
      { kind: 'time', window: { ...window, slices: others } },
      { kind: 'time', window: { ...window, slices: [first!.slice(1), ...others] } },
      { kind: 'time', window: { ...window, slices: { length: 10 } } },
      { kind: 'time', window: { ...window, sums: [1, 1] } },
      { kind: 'time', window: { ...window, sums: [0, 0, 0] } },
      { ...memory, sums: [0, 0, 0] },
      { ...memory, sums: [1, 1, 1] },
      { ...memory, latest: ['ignored'] },
    ]
    for (const memory of wrong) {
      const state = { generation: 1, openings: 0, forced: null, phase: { kind: 'closed', memory } }
      const snapshot = { takenAt: 1, monotonicAt: 1, state }
      assert.throws(() => timed.breaker.restore(snapshot as never), InvalidPolicyError, JSON.stringify(memory))
    }
  })

  it('never keeps a breaker open for longer than its policy does', () => {
    const { breaker, clock } = setting({ maxOpenMs: 40_000 })
    const state = { generation: 1, openings: 1, forced: null, phase: { kind: 'open' as const, until: 1e300 } }
    breaker.restore({ takenAt: clock.now(), monotonicAt: 0, state })
    const refusal = breaker.ask() as RefusedError
    assert.equal(refusal.retryAfterMs, 40_000)
  })

  it('of a window of another size is begun anew', async () => {
    const hundred = setting({ window: 'count', windowCalls: 100, minCalls: 10 })
    await hundred.calls('good', 30)
    const twenty = setting({ window: 'count', windowCalls: 20, minCalls: 10 })
    twenty.breaker.restore(hundred.breaker.snapshot())
    await twenty.calls('bad', 10)
    assert.equal(twenty.breaker.phase, 'open')
    const long = setting({ windowMs: 600_000, minCalls: 10 })
    await long.calls('bad', 9)
    const short = setting({ windowMs: 1_000, minCalls: 10 })
    short.breaker.restore(long.breaker.snapshot())
    await short.calls('bad', 1)
    assert.equal(short.breaker.phase, 'closed')
  })
})

describe('for any history', () => {
  it('no more probes are out than allowed, no result of another generation counts, and it always recovers', () => {
    const anyStep = fc.oneof(
      fc.record({ kind: fc.constant('ask' as const) }),
      fc.record({
        kind: fc.constant('end' as const),
        pick: fc.nat(),
        result: fc.constantFrom<CallResult>('good', 'failed', 'slow', 'ignored'),
      }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 40_000 }) }),
    )
    const anyPolicy = fc.record({
      window: fc.constantFrom('time' as const, 'count' as const, 'consecutive' as const),
      minCalls: fc.integer({ min: 2, max: 5 }),
      consecutiveFailures: fc.integer({ min: 1, max: 4 }),
      probes: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(anyPolicy, fc.array(anyStep, { maxLength: 120 }), (input, steps) => {
        const policy = withBreakerDefaults(input)
        let now = 0
        const state = closedBreaker(policy, now)
        const held: Permit[] = []
        for (const step of steps) {
          if (step.kind === 'wait') now += step.ms
          else if (step.kind === 'ask') {
            const answer = mayStart(policy, state, now)
            if (answer.kind === 'yes') held.push(answer.permit)
            else assert.ok(answer.until >= now)
          } else if (held.length > 0) {
            const [permit] = held.splice(step.pick % held.length, 1)
            const before = structuredClone(state)
            record(policy, state, permit!, step.result, now)
            if (permit!.generation !== before.generation) assert.deepEqual(state, before)
            else assert.ok(state.generation >= before.generation)
          }
          if (state.phase.kind === 'half-open') assert.ok(state.phase.probes.leases.length <= policy.probes)
        }
        // Whatever happened: with time and good answers it closes.
        for (let n = 0; n < 2 * policy.probes + 2; n++) {
          now += policy.openMs + policy.probeTimeoutMs
          const answer = mayStart(policy, state, now)
          if (answer.kind === 'yes') record(policy, state, answer.permit, 'good', now)
        }
        assert.equal(state.phase.kind, 'closed')
      }),
      { numRuns: 300 },
    )
  })
})
