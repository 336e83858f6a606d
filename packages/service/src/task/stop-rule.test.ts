import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import {
  isWatched,
  isWrongForAll,
  newTrial,
  seeAttempt,
  seeAttemptOf,
  watchOf,
  WATCHED_RAMP_MS,
  type SharedTrial,
} from './stop-rule.ts'

const NOW = 1_767_225_600_000
const HALF_OF_FOUR = { stopOnFailureRate: 0.5, overLast: 4 }

/** After which attempt it trips; `x` is a failure. */
function tripsAfter(attempts: string, rule = HALF_OF_FOUR): number | undefined {
  const trial = newTrial()
  const place = Array.from(attempts).findIndex(attempt => seeAttempt(rule, trial, attempt === 'x'))
  return place < 0 ? undefined : place + 1
}

describe('a stop rule', () => {
  it('trips as soon as its part of the last attempts has failed, whatever would follow', () => {
    assert.equal(tripsAfter('xx'), 2)
    assert.equal(tripsAfter('x..x'), 4)
  })

  it('forgets what is older than the last attempts', () => assert.equal(tripsAfter('x...x...x...'), undefined))

  it('never trips on a success', () => {
    assert.equal(tripsAfter('....', { stopOnFailureRate: 0, overLast: 4 }), undefined)
    assert.equal(tripsAfter('...x', { stopOnFailureRate: 0, overLast: 4 }), 4)
  })

  it('is in force for as long as the way back takes', () => {
    const judged = { of: 'own', since: NOW, scope: {}, isForAll: false, isByOperator: false }
    const isWatchedAt = (rampMs: number | undefined, at: number): boolean =>
      watchOf(judged, { ...HALF_OF_FOUR, ...(rampMs !== undefined && { rampMs }) }).some(watch => isWatched(watch, at))
    assert.deepEqual(
      [-1, 0, 9, 10].map(afterMs => isWatchedAt(10, NOW + afterMs)),
      [false, true, true, false],
    )
    assert.equal(isWatchedAt(undefined, NOW + WATCHED_RAMP_MS - 1), true)
    assert.deepEqual(watchOf(judged, { rampMs: 10 }), [])
  })
})

describe('a stop rule for every tenant', () => {
  /** Whether it stops all after any of these attempts, each `tenant` or `tenant!`, which has failed. */
  const stopsAll = (attempts: string, waiting: readonly string[] = []): boolean => {
    const shared: SharedTrial = new Map()
    return attempts.split(' ').some(attempt => {
      const [tenant, hasFailed] = [attempt[0]!, attempt.endsWith('!')]
      return seeAttemptOf(HALF_OF_FOUR, shared, tenant, hasFailed) && isWrongForAll(shared, waiting)
    })
  }

  it('stops all when it goes wrong for more than half of those that sent, or are about to', () => {
    assert.equal(stopsAll('a! b! b! a!'), true)
    assert.equal(stopsAll('c a! a! b! b!'), true)
    assert.equal(stopsAll('a! a! b'), true, 'nobody else is there')
    assert.equal(stopsAll('a! a!', ['a']), true)
  })

  it('leaves the others alone where it goes wrong for one, or for as many as it goes well for', () => {
    assert.equal(stopsAll('b a! a! a! a!'), false)
    assert.equal(stopsAll('a! a! a!', ['b']), false)
    assert.equal(stopsAll('c d a! a! b! b!'), false)
  })

  it('forgives whoever has had as many attempts as are judged without one too many', () => {
    assert.equal(stopsAll('c b! b! a! a!'), true)
    assert.equal(stopsAll('c b! b! b b b b a! a!'), false)
  })

  const anyRule = fc.record({
    stopOnFailureRate: fc.integer({ min: 1, max: 10 }).map(tenths => tenths / 10),
    overLast: fc.integer({ min: 1, max: 20 }),
  })
  const anyAttempts = fc.array(fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), hasFailed: fc.boolean() }))

  it('is the rule of one where there is one, whatever comes', () => {
    fc.assert(
      fc.property(anyRule, fc.array(fc.boolean()), (rule, attempts) => {
        const shared: SharedTrial = new Map()
        let alone = newTrial()
        for (const hasFailed of attempts) {
          const isStopped = seeAttempt(rule, alone, hasFailed)
          if (isStopped) alone = newTrial()
          assert.equal(seeAttemptOf(rule, shared, 'a', hasFailed) && isWrongForAll(shared, ['a']), isStopped)
        }
      }),
    )
  })

  it('is never in the hand of one tenant, nor of half of them, however often theirs fail', () => {
    fc.assert(
      fc.property(anyRule, anyAttempts, (rule, attempts) => {
        const shared: SharedTrial = new Map()
        const others = ['d', 'e', 'f']
        for (const tenant of others) seeAttemptOf(rule, shared, tenant, false)
        for (const { tenant, hasFailed } of attempts) {
          seeAttemptOf(rule, shared, tenant, hasFailed)
          assert.equal(isWrongForAll(shared, ['a', 'b', 'c']), false)
        }
      }),
    )
  })

  it('stops all before any tenant has had more failures than are judged, if nothing succeeds', () => {
    fc.assert(
      fc.property(anyRule, fc.integer({ min: 1, max: 6 }), (rule, count) => {
        const shared: SharedTrial = new Map()
        const tenants = Array.from({ length: count }, (_, n) => String(n))
        const rounds = Array.from({ length: rule.overLast }, () => tenants).flat()
        const isStopped = rounds.some(
          tenant => seeAttemptOf(rule, shared, tenant, true) && isWrongForAll(shared, tenants),
        )
        assert.ok(isStopped)
      }),
    )
  })
})
