import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { Sweep, SweepAudit, TaskStore } from '../stores/task-store.ts'
import { DEFAULT_RETENTION, keepTidy, sweepAt } from './retention.ts'

const HOUR_MS = 3_600_000
const TEN_MINUTES_MS = 600_000

/** A store that has so much to forget at each sweep, and may fail at first. */
function sweeping(found: readonly (number | Error)[], skewsMs: number[] = []): { store: TaskStore; asked: Sweep[] } {
  const asked: Sweep[] = []
  const left = [...found]
  const store = {
    health: () => Promise.resolve({ now: 1_000 * HOUR_MS, clockSkewMs: skewsMs.shift() ?? 0 }),
    sweep: (ask: Sweep) => {
      asked.push(ask)
      const swept = left.shift() ?? 0
      return swept instanceof Error ? Promise.reject(swept) : Promise.resolve({ now: 0, swept })
    },
    records: () => Promise.resolve({ items: [] }),
    sweepLanes: () => Promise.resolve({ now: 0, lanes: [] }),
    sweepAudit: ({ before }: SweepAudit) => {
      assert.equal(before, 1_000 * HOUR_MS - 365 * 24 * HOUR_MS)
      return Promise.resolve({ now: 0, swept: 0 })
    },
  }
  return { store: store as unknown as TaskStore, asked }
}

describe('retention', () => {
  it('keeps what succeeded for a week, dead letters for thirty days, and keys for a day after the end', () => {
    const now = 10_000 * HOUR_MS
    assert.deepEqual(sweepAt(now, DEFAULT_RETENTION), {
      finishedBefore: now - 7 * 24 * HOUR_MS,
      deadBefore: now - 30 * 24 * HOUR_MS,
      keysBefore: now - 24 * HOUR_MS,
      limit: 500,
    })
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

  it('tells of a step that failed, and tries again after the rest', async () => {
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

  it('walks through all lanes, a step at each sweep, and begins anew at their end', async () => {
    const clock = virtualClock()
    const { store } = sweeping([])
    const cursors: (string | undefined)[] = []
    const { signal, abort } = controller()
    store.sweepLanes = async ({ cursor }) => {
      if (cursors.push(cursor) === 5) abort()
      return { now: 0, lanes: [], ...(cursor !== 'two' && { nextCursor: cursor === undefined ? 'one' : 'two' }) }
    }
    const kept = keepTidy({ store, clock, signal, onProblem: error => assert.fail(String(error)) })
    await clock.advance(TEN_MINUTES_MS + 10 * 60_000)
    await kept
    assert.deepEqual(cursors, [undefined, 'one', 'two', undefined, 'one'])
  })
})

function controller(): { signal: AbortSignal; abort: () => void } {
  const one = new AbortController()
  return { signal: one.signal, abort: () => one.abort() }
}
