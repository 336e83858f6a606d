import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { expectNoLeaks, virtualClock } from '../testing/index.ts'
import { deadline, deadlineFrom, earlier } from './deadline.ts'

describe('a deadline', () => {
  it('is so many ms from now, or an instant of wall time', () => {
    const clock = virtualClock({ now: 1_000 })
    assert.equal(deadline({ inMs: 500 }, clock).at, 1_500)
    assert.equal(deadline({ at: 1_300 }, clock).remainingMs, 300)
  })

  it('comes nearer as time passes, and never leaves less than nothing', async () => {
    const clock = virtualClock()
    const soon = deadline({ inMs: 500 }, clock)
    await clock.advance(200)
    assert.equal(soon.remainingMs, 300)
    await clock.advance(400)
    assert.equal(soon.remainingMs, 0)
  })

  it('is not moved by a wall clock that is set', () => {
    const clock = virtualClock({ now: 1_000 })
    const soon = deadline({ at: 1_500 }, clock)
    clock.jumpWall(-10_000)
    assert.deepEqual([soon.remainingMs, soon.at], [500, -8_500])
  })

  it('has an earlier one for a part of the work', () => {
    const clock = virtualClock()
    const parent = deadline({ inMs: 500 }, clock)
    assert.equal(parent.child(100).remainingMs, 400)
    assert.equal(parent.child(900).remainingMs, 0)
    assert.equal(parent.remainingMs, 500)
  })

  it('has none for a part that is later than its own, whatever is kept back', () => {
    const parent = deadline({ inMs: 500 }, virtualClock())
    for (const reserveMs of [0, -5_000, -Infinity, NaN]) assert.equal(parent.child(reserveMs).remainingMs, 500)
  })

  it('aborts its signal when it has come, with a reason that says so', async () => {
    const clock = virtualClock()
    const { signal } = deadline({ inMs: 500 }, clock)
    await clock.advance(499)
    assert.equal(signal.aborted, false)
    await clock.advance(1)
    assert.equal((signal.reason as { code: string }).code, 'deadline')
  })

  it('that has passed has a signal that is aborted already', () => {
    const { signal } = deadline({ inMs: -1 }, virtualClock())
    assert.equal((signal.reason as { code: string }).code, 'deadline')
  })

  it('waits on the clock only for a signal that was looked at, and not after its release', async () => {
    const clock = virtualClock()
    await expectNoLeaks(
      async () => {
        const one = deadline({ inMs: 500 }, clock)
        assert.equal(clock.pending, 0)
        const { signal } = one
        assert.equal(clock.pending, 1)
        one.release()
        await clock.advance(1_000)
        assert.equal(signal.aborted, false)
      },
      { clock },
    )
  })

  it('that was released in time never aborts a signal that is first read afterwards, and arms nothing', async () => {
    const clock = virtualClock()
    const [early, late] = [deadline({ inMs: 500 }, clock), deadline({ inMs: 500 }, clock)]
    early.release()
    assert.deepEqual([early.signal.aborted, clock.pending], [false, 0])
    late.release()
    await clock.advance(1_000)
    assert.deepEqual([early.signal.aborted, late.signal.aborted, clock.pending], [false, false, 0])
  })

  it('that had passed before its release has an aborted signal all the same', async () => {
    const clock = virtualClock()
    const passed = deadline({ inMs: 500 }, clock)
    await clock.advance(600)
    passed.release()
    assert.equal(passed.signal.aborted, true)
  })

  it('that never comes arms nothing', () => {
    const clock = virtualClock()
    assert.equal(deadline({ inMs: Infinity }, clock).signal.aborted, false)
    assert.equal(clock.pending, 0)
  })

  it('is not made of what is no number', () => {
    assert.throws(() => deadline({ inMs: NaN }), TypeError)
    assert.throws(() => deadline({ inMs: '5' as never }), TypeError)
    assert.throws(() => deadline({ at: undefined as never }), TypeError)
  })
})

describe('the deadline of a request', () => {
  it('counts from its arrival, and keeps 10 ms back unless told', () => {
    const clock = virtualClock()
    assert.equal(deadlineFrom({ 'x-timeout-ms': '500' }, { clock })!.remainingMs, 490)
    assert.equal(deadlineFrom({ 'x-timeout-ms': '500' }, { clock, reserveMs: 100 })!.remainingMs, 400)
    assert.equal(deadlineFrom({ 'x-timeout-ms': '5' }, { clock })!.remainingMs, 0)
  })

  it('is undefined when it names none', () => {
    assert.equal(deadlineFrom({}), undefined)
  })
})

describe('the earlier of two deadlines', () => {
  it('is the one that leaves less time, or the only one', () => {
    const clock = virtualClock()
    const [soon, late] = [deadline({ inMs: 1 }, clock), deadline({ inMs: 2 }, clock)]
    assert.equal(earlier(soon, late), soon)
    assert.equal(earlier(late, soon), soon)
    assert.equal(earlier(undefined, late), late)
    assert.equal(earlier(late, undefined), late)
    assert.equal(earlier(undefined, undefined), undefined)
  })
})
