import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { Sweep } from '../stores/store.ts'
import { DEFAULT_RETENTION, keepTidy, sweepAt, type Upkeep } from './retention.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const TEN_MINUTES_MS = 600_000

/** A store that has so much to forget at each sweep, and may fail at first. */
function sweeping(found: readonly (number | Error)[], skewsMs: number[] = []) {
  const asked: Sweep[] = []
  const left = [...found]
  const store: Upkeep['store'] = {
    health: async () => ({ now: 1_000 * HOUR_MS, clockSkewMs: skewsMs.shift() ?? 0 }),
    async sweep(ask) {
      asked.push(ask)
      const swept = left.shift() ?? 0
      if (swept instanceof Error) throw swept
      return { now: 0, swept }
    },
    records: async () => ({ items: [] }),
    write: async () => assert.fail('there is no record'),
  }
  return { store, asked }
}

describe('retention', () => {
  it('keeps what succeeded for a week, dead letters for thirty days, and the audit for a year', () => {
    const now = 10_000 * HOUR_MS
    assert.deepEqual(sweepAt(now, DEFAULT_RETENTION), {
      finishedBefore: now - 7 * DAY_MS,
      deadBefore: now - 30 * DAY_MS,
      auditBefore: now - 365 * DAY_MS,
      limit: 500,
    })
  })

  it('keeps every task for as long as its key shall find it', () => {
    const now = 10_000 * HOUR_MS
    const retention = { finishedMs: 1, deadMs: 2, keyMs: 3, auditMs: 4 }
    const { finishedBefore, deadBefore } = sweepAt(now, retention)
    assert.deepEqual([finishedBefore, deadBefore], [now - 3, now - 3])
  })

  it('goes on at once while there is more to forget, and rests for a minute when there is not', async () => {
    const clock = virtualClock()
    const { store, asked } = sweeping([500, 500, 7])
    const { signal, abort } = controller()
    const kept = keepTidy({ store, clock, signal, onProblem: error => assert.fail(String(error)) })
    await clock.advance(TEN_MINUTES_MS + 1_000)
    assert.equal(asked.length, 3)
    await clock.advance(60_000)
    assert.equal(asked.length, 4)
    abort()
    await kept
  })

  it('forgets nothing while the store’s clock is far ahead of the wall clock, and goes on when they have met', async () => {
    const clock = virtualClock()
    const { store, asked } = sweeping([1], [-HOUR_MS, -61_000, -60_000])
    const { signal, abort } = controller()
    const kept = keepTidy({ store, clock, signal, onProblem: error => assert.fail(String(error)) })
    await clock.advance(TEN_MINUTES_MS + 60_000)
    assert.equal(asked.length, 0)
    await clock.advance(60_000)
    assert.equal(asked.length, 1)
    abort()
    await kept
  })

  it('forgets nothing in the first ten minutes, for the clock may be wrong yet', async () => {
    const clock = virtualClock()
    const { store, asked } = sweeping([])
    const { signal, abort } = controller()
    const kept = keepTidy({ store, clock, signal, onProblem: error => assert.fail(String(error)) })
    await clock.advance(TEN_MINUTES_MS - 1)
    assert.equal(asked.length, 0)
    await clock.advance(1)
    assert.equal(asked.length, 1)
    abort()
    await kept
  })

  it('does nothing when it is ended before', async () => {
    const clock = virtualClock()
    const { store, asked } = sweeping([])
    const { signal, abort } = controller()
    const kept = keepTidy({ store, clock, signal, onProblem: error => assert.fail(String(error)) })
    abort()
    await kept
    assert.equal(asked.length, 0)
  })

  it('reports a step that failed, and tries again after the rest', async () => {
    const clock = virtualClock()
    const full = new Error('the disk is full')
    const { store, asked } = sweeping([full, 1])
    const { signal, abort } = controller()
    const problems: unknown[] = []
    const kept = keepTidy({ store, clock, signal, onProblem: error => problems.push(error) })
    await clock.advance(TEN_MINUTES_MS + 60_001)
    assert.deepEqual(problems, [full])
    assert.equal(asked.length, 2)
    abort()
    await kept
  })
})

function controller(): { signal: AbortSignal; abort: () => void } {
  const one = new AbortController()
  return { signal: one.signal, abort: () => one.abort() }
}
