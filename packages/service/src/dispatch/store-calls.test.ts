import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { StoreCalls, StoreTime } from './store-calls.ts'

function setting() {
  const clock = virtualClock()
  const happened: string[] = []
  const time = new StoreTime(clock)
  const calls = new StoreCalls({
    clock,
    random: () => 0,
    time,
    events: {
      attemptEnded() {},
      taskChanged() {},
      taskEnded() {},
      held() {},
      breakerChanged() {},
      orphan() {},
      warning: (code, text) => happened.push(`${code}: ${text}`),
    },
    onJump: () => happened.push('jump'),
    onRested: () => happened.push(`rested at ${clock.monotonic()}`),
  })
  const well = () => Promise.resolve({ now: clock.now() })
  const down = () => Promise.reject(new Error('down'))
  return { clock, calls, time, happened, well, down }
}

describe('a call to the store', () => {
  it('that is answered brings its answer, and the time', async () => {
    const { calls, time, happened } = setting()
    assert.deepEqual(await calls.ask(() => Promise.resolve({ now: 1_900_000_000_000, taken: true })), {
      now: 1_900_000_000_000,
      taken: true,
    })
    assert.equal(time.now(), 1_900_000_000_000)
    assert.deepEqual(happened, ['jump'])
    assert.deepEqual(await calls.read(() => Promise.resolve(undefined)), { value: undefined })
  })

  it('that fails, or gets no answer in five seconds, brings nothing: nobody knows whether it was done', async () => {
    const { calls, clock, down } = setting()
    assert.equal(await calls.ask(down), undefined)
    const hung = calls.ask(() => new Promise<never>(() => {}))
    await clock.advance(5_000)
    assert.equal(await hung, undefined)
  })

  it('that failed is told once, and the store is left alone for ever longer, up to five seconds', async () => {
    const { calls, clock, happened, down } = setting()
    for (let n = 0; n < 8; n++) {
      await Promise.all([calls.ask(down), calls.ask(down)])
      assert.equal(calls.isResting, true)
      await clock.drain()
      assert.equal(calls.isResting, false)
    }
    const rests = happened.filter(text => text.startsWith('rested')).map(text => Number(text.split(' ').at(-1)))
    assert.deepEqual(
      rests.map((at, place) => at - (rests[place - 1] ?? 0)),
      [50, 100, 200, 400, 800, 1_600, 2_500, 2_500],
    )
    assert.equal(happened.filter(text => text === 'store-unavailable: the store did not answer: down').length, 8)
  })

  it('that succeeds ends the long waits', async () => {
    const { calls, clock, well, down } = setting()
    for (let n = 0; n < 4; n++) {
      await calls.ask(down)
      await clock.drain()
    }
    await calls.ask(well)
    const before = clock.monotonic()
    await calls.ask(down)
    await clock.drain()
    assert.equal(clock.monotonic() - before, 50)
  })
})

const STORE = 1_800_000_000_000

describe("the store's time", () => {
  it('is what its last answer said, and what has passed since', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    time.hear(STORE, 0)
    await clock.advance(1_500)
    assert.deepEqual([time.now(), time.storeNow()], [STORE + 1_500, STORE + 1_500])
  })

  it('is the wall clock until the store has said anything', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    assert.equal(time.now(), clock.now())
  })

  it('is not put back by an answer that took its time: it proves nothing', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    time.hear(STORE, 0)
    await clock.advance(5_000)
    // Asked at 0, carried out at 1, and back at last.
    assert.equal(time.hear(STORE + 1, 0), false)
    assert.equal(time.now(), STORE + 5_000)
  })

  it('leaps with the store when its clock does, and says so', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    time.hear(STORE, 0)
    assert.equal(time.hear(STORE + 60_000, 0), true)
    assert.equal(time.now(), STORE + 60_000)
  })

  it('never runs back: when the store falls behind, now goes at half speed until met', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    time.hear(STORE, 0)
    assert.equal(time.now(), STORE)
    assert.equal(time.hear(STORE - 10_000, 0), true)
    assert.equal(time.storeNow(), STORE - 10_000, 'what is due is due by the store')
    const seen: number[] = []
    for (let n = 0; n < 5; n++) {
      await clock.advance(5_000)
      seen.push(time.now() - STORE)
    }
    assert.deepEqual(seen, [2_500, 5_000, 7_500, 10_000, 15_000])
  })

  it('whatever answers come, never runs back', () => {
    const anyAnswer = fc.record({ passMs: fc.nat(5_000), storeMs: fc.integer({ min: -50_000, max: 50_000 }) })
    return fc.assert(
      fc.asyncProperty(fc.array(anyAnswer, { maxLength: 30 }), async answers => {
        const clock = virtualClock()
        const time = new StoreTime(clock)
        let last = time.now()
        for (const { passMs, storeMs } of answers) {
          const askedAt = clock.monotonic()
          await clock.advance(passMs)
          time.hear(clock.now() + storeMs, askedAt)
          const now = time.now()
          assert.ok(now >= last)
          assert.ok(now >= Math.floor(time.storeNow()))
          last = now
        }
      }),
      { numRuns: 20 },
    )
  })
})

describe('what has passed of a lease', () => {
  it('is the larger of elapsed and wall time: a machine may have slept, a clock may have been set back', async () => {
    const clock = virtualClock()
    const time = new StoreTime(clock)
    const mark = time.mark()
    await clock.advance(1_000)
    clock.jumpWall(-3_600_000)
    assert.equal(time.passedSince(mark), 1_000)
    clock.jumpWall(7_200_000)
    assert.equal(time.passedSince(mark), 3_601_000)
  })
})
