import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { StoreCalls } from './store-calls.ts'
import { StoreTime } from './store-time.ts'

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
