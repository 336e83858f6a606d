import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import { createStoreClock, isFarAhead, saySkew, storeTimeAt, uptimeMs, type StoreClock } from './store-clock.ts'

const HOUR_MS = 3_600_000

/** A machine that can be suspended: the wall clock and the time since its start go on, elapsed time does not. */
function machine(lastWrittenAt?: number): { clock: VirtualClock; store: StoreClock; suspend: (ms: number) => void } {
  const clock = virtualClock()
  let suspendedMs = 0
  const bootMs = (): number => 5_000_000 + clock.monotonic() + suspendedMs
  const store = createStoreClock({ clock, bootMs, ...(lastWrittenAt !== undefined && { lastWrittenAt }) })
  const suspend = (ms: number): void => {
    suspendedMs += ms
    clock.jumpWall(ms)
  }
  return { clock, store, suspend }
}

describe("a store's clock", () => {
  it('begins with the wall clock, and goes on with time that passes', async () => {
    const { clock, store } = machine()
    const begun = clock.now()
    assert.deepEqual([store.now(), store.skewMs()], [begun, 0])
    await clock.advance(1_234)
    assert.deepEqual([store.now(), store.skewMs()], [begun + 1_234, 0])
  })

  it('begins with the last instant that was written, if the wall clock is behind it', () => {
    const { clock, store } = machine(virtualClock().now() + HOUR_MS)
    assert.equal(store.now(), clock.now() + HOUR_MS)
    assert.equal(store.skewMs(), -HOUR_MS)
  })

  it('that is ahead of the wall clock goes at half speed until they have met, then together with it', async () => {
    const { clock, store } = machine(virtualClock().now() + HOUR_MS)
    const begun = store.now()
    await clock.advance(1_000)
    assert.equal(store.now(), begun + 500)
    await clock.advance(2 * HOUR_MS - 2_000)
    assert.deepEqual([store.now(), store.skewMs()], [begun + HOUR_MS - 500, -500])
    await clock.advance(1_000)
    assert.deepEqual([store.now(), store.skewMs()], [clock.now(), 0])
    await clock.advance(HOUR_MS)
    assert.deepEqual([store.now(), store.skewMs()], [clock.now(), 0])
  })

  it('that a wrong wall clock brought ahead comes back over restarts, and never runs back', async () => {
    const clock = virtualClock()
    let lastWrittenAt = clock.now() + 10 * HOUR_MS
    for (let starts = 0; starts < 20; starts++) {
      const store = createStoreClock({ clock, lastWrittenAt })
      assert.ok(store.now() >= lastWrittenAt)
      await clock.advance(HOUR_MS)
      lastWrittenAt = store.now()
    }
    assert.equal(lastWrittenAt, clock.now())
  })

  it('does not look at an instant that was written long ago', () => {
    const { clock, store } = machine(0)
    assert.equal(store.now(), clock.now())
  })

  for (const stepMs of [HOUR_MS, 500])
    it(`does not follow a step of the wall clock by ${stepMs} ms, and shows it`, async () => {
      const { clock, store } = machine()
      const begun = store.now()
      clock.jumpWall(stepMs)
      assert.deepEqual([store.now(), store.skewMs()], [begun, stepMs])
      await clock.advance(10)
      assert.deepEqual([store.now(), store.skewMs()], [begun + 10, stepMs])
    })

  for (const stepMs of [-HOUR_MS, -500])
    it(`goes slower, and never back, after a step of the wall clock by ${stepMs} ms`, async () => {
      const { clock, store } = machine()
      const begun = store.now()
      clock.jumpWall(stepMs)
      assert.deepEqual([store.now(), store.skewMs()], [begun, stepMs])
      await clock.advance(10)
      assert.deepEqual([store.now(), store.skewMs()], [begun + 5, stepMs + 5])
      await clock.advance(2 * HOUR_MS)
      assert.deepEqual([store.now(), store.skewMs()], [clock.now(), 0])
    })

  it('counts a suspend as time that passed', async () => {
    const { clock, store, suspend } = machine()
    const begun = store.now()
    await clock.advance(100)
    suspend(8 * HOUR_MS)
    assert.deepEqual([store.now(), store.skewMs()], [begun + 100 + 8 * HOUR_MS, 0])
    await clock.advance(100)
    suspend(2 * HOUR_MS)
    assert.equal(store.now(), begun + 200 + 10 * HOUR_MS)
  })

  it('tells a suspend from a step, also when both happen before anybody looks', () => {
    const { clock, store, suspend } = machine()
    const begun = store.now()
    suspend(HOUR_MS)
    clock.jumpWall(5 * HOUR_MS)
    assert.deepEqual([store.now(), store.skewMs()], [begun + HOUR_MS, 5 * HOUR_MS])
  })

  it('adds up suspends that are too short to be told from a coarse reading', () => {
    const { store, suspend } = machine()
    const begun = store.now()
    for (let n = 0; n < 10; n++) {
      suspend(400)
      store.now()
    }
    assert.ok(store.now() - begun >= 3_000)
  })

  it('without a machine to ask takes every leap for a step', () => {
    const clock = virtualClock()
    const store = createStoreClock({ clock })
    const begun = store.now()
    clock.jumpWall(HOUR_MS)
    assert.deepEqual([store.now(), store.skewMs()], [begun, HOUR_MS])
  })

  it('asks the machine only when the wall clock has leapt', async () => {
    const clock = virtualClock()
    let asked = 0
    const store = createStoreClock({ clock, bootMs: () => (asked++, clock.monotonic()) })
    for (let n = 0; n < 100; n++) {
      await clock.advance(1_000)
      store.now()
    }
    assert.equal(asked, 1)
    clock.jumpWall(HOUR_MS)
    store.now()
    store.now()
    assert.equal(asked, 2)
  })

  it('never runs back, in whole milliseconds, whatever happens to the machine', async () => {
    const event = fc.record({
      kind: fc.constantFrom('advance', 'jump', 'suspend'),
      ms: fc.integer({ min: -10_000_000, max: 10_000_000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async events => {
        const { clock, store, suspend } = machine()
        let last = store.now()
        for (const { kind, ms } of events) {
          if (kind === 'advance') await clock.advance(Math.abs(ms) / 7)
          else if (kind === 'jump') clock.jumpWall(ms)
          else suspend(Math.abs(ms))
          const now = store.now()
          assert.ok(now >= last && Number.isInteger(now))
          last = now
        }
      }),
      { numRuns: 50 },
    )
  })

  it('knows how long this machine has been up', () => {
    assert.ok(uptimeMs() > 1_000)
  })
})

describe('an instant by the wall clock', () => {
  const NOW = 1_767_225_600_000

  it('is the same by the store’s while the two agree', () => {
    assert.equal(storeTimeAt(NOW + 5_000, { now: NOW + 999, wallNow: NOW }), NOW + 5_000)
  })

  it('stays in the past when it is past', () => {
    for (const wallNow of [NOW - 10 * HOUR_MS, NOW + 10 * HOUR_MS])
      assert.equal(storeTimeAt(wallNow - 5, { now: NOW, wallNow }), NOW - 5)
  })

  it('is what the store’s clock says when it comes', async () => {
    const hours = fc.integer({ min: -50, max: 50 })
    await fc.assert(
      fc.asyncProperty(hours, fc.integer({ min: 0, max: 100 * HOUR_MS }), async (aheadHours, inMs) => {
        const clock = virtualClock()
        const store = createStoreClock({ clock, lastWrittenAt: clock.now() + aheadHours * HOUR_MS })
        if (aheadHours < 0) clock.jumpWall(-aheadHours * HOUR_MS)
        const wallAt = clock.now() + inMs
        const storeAt = storeTimeAt(wallAt, { now: store.now(), wallNow: clock.now() })
        await clock.advance(inMs)
        assert.ok(Math.abs(store.now() - storeAt) < 1)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a warning about the clocks', () => {
  it('is given when they are more than a minute apart, and says which one is behind', () => {
    for (const skewMs of [0, 60_000, -60_000]) assert.equal(saySkew(skewMs), undefined)
    assert.match(saySkew(60_001)!, /the wall clock is 60 s ahead of the store's/)
    assert.match(saySkew(-863_998_154)!, /the wall clock is 863998 s behind the store's/)
    assert.deepEqual([-60_001, -60_000, 0, 60_001].map(isFarAhead), [true, false, false, false])
  })
})
