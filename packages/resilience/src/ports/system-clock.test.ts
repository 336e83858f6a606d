import assert from 'node:assert/strict'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import { NOT_ARMED, type Alarm } from './clock.ts'
import { systemClock } from './system-clock.ts'

/** The clock's own timers, played by hand: what is tested is how it sets them. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

function armed(inMs: number, ring: Alarm['ring']): Alarm {
  const alarm = { dueAt: systemClock.monotonic() + inMs, slot: NOT_ARMED, ring }
  systemClock.arm(alarm)
  return alarm
}

describe('systemClock', () => {
  it('rings each alarm once, in order, never before it is due', () => {
    const start = systemClock.monotonic()
    const rung: number[] = []
    for (const ms of [30, 10, 20, 10.5]) armed(ms, () => rung.push(ms))
    vi.advanceTimersByTime(9)
    assert.deepEqual(rung, [])
    vi.advanceTimersByTime(2)
    assert.deepEqual(rung, [10, 10.5])
    vi.advanceTimersByTime(100)
    assert.deepEqual(rung, [10, 10.5, 20, 30])
    assert.ok(systemClock.monotonic() >= start + 30)
  })

  it('has one timer for any number of alarms, and none when it is quiet', () => {
    const alarms = Array.from({ length: 100 }, (_, n) => armed(1_000 + n, () => {}))
    assert.equal(vi.getTimerCount(), 1)
    vi.advanceTimersByTime(5)
    assert.equal(vi.getTimerCount(), 1)
    for (const alarm of alarms) systemClock.disarm(alarm)
    assert.equal(vi.getTimerCount(), 0)
  })

  it('sets no timer for each of many quick calls: one for a millisecond of them', () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    for (let call = 0; call < 1_000; call++) systemClock.disarm(armed(10_000, () => {}))
    assert.equal(set.mock.calls.length, 1)
    vi.advanceTimersByTime(2)
    assert.equal(vi.getTimerCount(), 0, 'and it goes away by itself')
  })

  it('waits longer than any timer can', () => {
    const month = 30 * 24 * 3_600_000
    let rang = false
    armed(month, () => (rang = true))
    vi.advanceTimersByTime(month - 1)
    assert.equal(rang, false)
    vi.advanceTimersByTime(2)
    assert.equal(rang, true)
  })

  it('sets an earlier timer for an alarm that is due earlier', () => {
    const rung: string[] = []
    armed(1_000, () => rung.push('late'))
    vi.advanceTimersByTime(10)
    armed(5, () => rung.push('early'))
    vi.advanceTimersByTime(6)
    assert.deepEqual(rung, ['early'])
    vi.advanceTimersByTime(1_000)
  })

  it('lets other work have its turn when a herd wakes at once', () => {
    let rings = 0
    for (let n = 0; n < 2_500; n++) armed(10, () => rings++)
    vi.advanceTimersToNextTimer()
    vi.advanceTimersToNextTimer()
    assert.equal(rings, 1_000)
    vi.advanceTimersByTime(10)
    assert.equal(rings, 2_500)
  })

  it('tells whom it rings what time it is, by a reading that is at most 16 rings old', () => {
    const told: number[] = []
    for (let n = 0; n < 100; n++) armed(5, now => void told.push(now!))
    vi.advanceTimersByTime(1)
    let reading = performance.now() + 5
    const read = vi.spyOn(performance, 'now').mockImplementation(() => reading++)
    vi.advanceTimersByTime(10)
    read.mockRestore()
    const first = told[0]!
    assert.deepEqual(
      told.map(now => now - first),
      Array.from({ length: 100 }, (_, n) => Math.floor((n + 8) / 16)),
    )
  })

  it('heeds what one ring does to others that are due in the same turn', () => {
    const rung: string[] = []
    const again = (alarm: Alarm, inMs: number): void => {
      systemClock.disarm(alarm)
      alarm.dueAt = systemClock.monotonic() + inMs
      systemClock.arm(alarm)
    }
    armed(0.5, () => {
      rung.push('first')
      systemClock.disarm(disarmed)
      again(later, 5)
      again(sooner, 0)
    })
    const disarmed = armed(0.5, () => rung.push('disarmed'))
    const later = armed(0.5, () => rung.push('later'))
    const sooner = armed(20, () => rung.push('sooner'))
    vi.advanceTimersByTime(1)
    assert.deepEqual(rung, ['first', 'sooner'])
    vi.advanceTimersByTime(20)
    assert.deepEqual(rung, ['first', 'sooner', 'later'])
    assert.equal(vi.getTimerCount(), 0)
  })

  it('keeps a bounded number of those who have left, also within one turn', () => {
    const seen: Alarm[] = []
    for (let n = 0; n < 5_000; n++) {
      const alarm = armed(10_000, () => {})
      if (n > 0) systemClock.disarm(seen[n - 1]!)
      seen.push(alarm)
    }
    assert.ok(seen.filter(({ slot }) => slot !== NOT_ARMED).length <= 1_024)
    systemClock.disarm(seen.at(-1)!)
    vi.advanceTimersByTime(2)
    assert.equal(vi.getTimerCount(), 0)
  })

  it('goes on when fake timers have come and gone', async () => {
    systemClock.disarm(armed(10_000, () => {}))
    vi.useRealTimers()
    assert.equal(await systemClock.sleep(1), undefined)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
    const slept = systemClock.sleep(1_000)
    vi.advanceTimersByTime(1_001)
    assert.equal(await slept, undefined)
  })

  it('goes on ringing the others when one ring throws', () => {
    let rang = false
    armed(5, () => {
      throw new Error('ring')
    })
    armed(5, () => (rang = true))
    assert.throws(() => vi.advanceTimersByTime(20), /ring/)
    vi.advanceTimersByTime(20)
    assert.equal(rang, true)
  })

  it('sleeps, and wakes at once when the signal aborts', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const sleep = systemClock.sleep(60_000, controller.signal)
    controller.abort(reason)
    await assert.rejects(sleep, reason)
    vi.advanceTimersByTime(1)
    assert.equal(vi.getTimerCount(), 0)
    await assert.rejects(systemClock.sleep(1, AbortSignal.abort(reason)), reason)
    const done = systemClock.sleep(5)
    vi.advanceTimersByTime(6)
    await done
  })

  it('keeps its promises whatever the order in which alarms come, go and come again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 7 }), fc.integer({ min: -5, max: 40 })), { maxLength: 60 }),
        steps => {
          const rung: string[] = []
          const alarms = Array.from({ length: 8 }, (_, n) => {
            const alarm: Alarm = { dueAt: 0, slot: NOT_ARMED, ring: () => void rung.push(`${n} ${alarm.dueAt}`) }
            return alarm
          })
          const expected = new Map<number, number>()
          const check = (): void => {
            const now = systemClock.monotonic()
            for (const line of rung.splice(0)) {
              const [n, dueAt] = line.split(' ').map(Number) as [number, number]
              assert.equal(expected.get(n), dueAt, 'rings what is armed, and once')
              assert.ok(dueAt <= now, 'not before it is due')
              expected.delete(n)
            }
            for (const dueAt of expected.values()) assert.ok(dueAt > now - 2, 'and not much later')
          }
          for (const [n, ms] of steps) {
            systemClock.disarm(alarms[n]!)
            expected.delete(n)
            // A negative number is a pause in which time passes; every fourth step only disarms.
            if (ms < 0) vi.advanceTimersByTime(-ms)
            else if (ms % 4 !== 0) {
              alarms[n]!.dueAt = systemClock.monotonic() + ms
              expected.set(n, alarms[n]!.dueAt)
              systemClock.arm(alarms[n]!)
            }
            check()
          }
          vi.advanceTimersByTime(100)
          check()
          assert.deepEqual([expected.size, vi.getTimerCount()], [0, 0])
        },
      ),
    )
  })

  it('does not keep what has left it, though no timer had a chance to tidy up', () => {
    const first = armed(10_000, () => {})
    let last = first
    for (let n = 0; n < 5_000; n++) {
      // Each leaves only after the next has come: none of them leaves from the top.
      const next = armed(10_000, () => {})
      systemClock.disarm(last)
      last = next
    }
    let length = 0
    for (let alarm: Alarm | undefined = last; alarm !== undefined; alarm = alarm.behind) length++
    assert.ok(length <= 1_024, String(length))
    systemClock.disarm(last)
  })
})
