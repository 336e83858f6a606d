import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { NOT_ARMED, type Alarm } from '../ports/clock.ts'
import { nextTurn } from '../ports/turn.ts'
import { virtualClock, type VirtualClock } from './virtual-clock.ts'

function alarmAt(dueAt: number, ring: () => void = () => {}): Alarm {
  return { dueAt, slot: NOT_ARMED, ring }
}

describe('a virtual clock', () => {
  it('begins at elapsed 0 and at the first instant of 2026, or at the wall time it is given', () => {
    const clock = virtualClock()
    assert.equal(clock.monotonic(), 0)
    assert.equal(clock.now(), Date.UTC(2026, 0, 1))
    assert.equal(virtualClock({ now: 5 }).now(), 5)
  })

  it('stands still until it is advanced, and then moves wall and elapsed time alike', async () => {
    const clock = virtualClock({ now: 1_000 })
    await new Promise<void>(nextTurn)
    assert.equal(clock.monotonic(), 0)
    await clock.advance(250)
    assert.deepEqual([clock.monotonic(), clock.now()], [250, 1_250])
  })

  it('wakes a sleeper at its own instant, not before and not at the end of the advance', async () => {
    const clock = virtualClock()
    const wokenAt = clock.sleep(100).then(() => clock.monotonic())
    await clock.advance(99)
    assert.equal(clock.pending, 1)
    await clock.advance(500)
    assert.deepEqual([await wokenAt, clock.monotonic(), clock.pending], [100, 599, 0])
  })

  it('lets promises settle between wake-ups, so that a loop of sleeps runs within one advance', async () => {
    const clock = virtualClock()
    const wokenAts: number[] = []
    const loop = async (): Promise<void> => {
      for (let n = 0; n < 4; n++) {
        await clock.sleep(100)
        await Promise.resolve().then(() => Promise.resolve())
        wokenAts.push(clock.monotonic())
      }
    }
    const running = loop()
    await clock.advance(350)
    assert.deepEqual(wokenAts, [100, 200, 300])
    await clock.drain()
    await running
  })

  it('waits for those who themselves wait a turn or two before they sleep', async () => {
    const clock = virtualClock()
    const slowly = async (): Promise<number> => {
      await clock.sleep(10)
      await new Promise<void>(nextTurn)
      await new Promise<void>(nextTurn)
      await clock.sleep(10)
      return clock.monotonic()
    }
    const done = slowly()
    await clock.drain()
    assert.equal(await done, 20)
  })

  it('rings alarms of one instant in the order in which they were armed, however many there are', async () => {
    const clock = virtualClock()
    const rung: number[] = []
    for (let n = 0; n < 50; n++) clock.arm(alarmAt(10, () => rung.push(n)))
    await clock.advance(10)
    assert.deepEqual(
      rung,
      Array.from({ length: 50 }, (_, n) => n),
    )
  })

  it('rings an alarm that was armed late at once, without turning time back', async () => {
    const clock = virtualClock()
    await clock.advance(100)
    const rungAts: number[] = []
    clock.arm(alarmAt(40, () => rungAts.push(clock.monotonic())))
    await clock.advance(0)
    assert.deepEqual(rungAts, [100])
  })

  it('does not ring an alarm that another of the same instant disarms', async () => {
    const clock = virtualClock()
    const second = alarmAt(10, () => assert.fail('was disarmed'))
    clock.arm(alarmAt(10, () => clock.disarm(second)))
    clock.arm(second)
    await clock.drain()
    assert.equal(second.slot, NOT_ARMED)
  })

  it('disarms an alarm whose owner has already written its next instant', async () => {
    const clock = virtualClock()
    const alarm = alarmAt(10, () => assert.fail('was disarmed'))
    clock.arm(alarm)
    alarm.dueAt = 20
    clock.disarm(alarm)
    assert.equal(clock.pending, 0)
    await clock.drain()
    assert.equal(clock.monotonic(), 0)
  })

  it('leaves an alarm that is not armed as it is when it is disarmed', () => {
    const clock = virtualClock()
    const alarm = alarmAt(10)
    clock.disarm(alarm)
    assert.deepEqual([clock.pending, alarm.slot], [0, NOT_ARMED])
  })

  it('rejects a sleep with the reason of its signal, at once, and forgets its alarm', async () => {
    const clock = virtualClock()
    const controller = new AbortController()
    const slept = clock.sleep(100, controller.signal).catch((error: unknown) => error)
    controller.abort('enough')
    assert.equal(clock.pending, 0)
    assert.equal(await slept, 'enough')
    await assert.rejects(clock.sleep(100, AbortSignal.abort(new Error('before'))), /before/)
  })

  it('steps the wall clock alone, also backwards', async () => {
    const clock = virtualClock({ now: 10_000 })
    const slept = clock.sleep(100)
    clock.jumpWall(-5_000)
    assert.deepEqual([clock.now(), clock.monotonic()], [5_000, 0])
    await clock.advance(100)
    await slept
    clock.jumpWall(86_400_000)
    assert.deepEqual([clock.now(), clock.monotonic()], [86_405_100, 100])
  })
})

describe('draining', () => {
  it('ends when nothing is armed, at the instant of the last alarm', async () => {
    const clock = virtualClock()
    const slept = clock.sleep(5).then(() => clock.sleep(3_600_000))
    await clock.drain()
    await slept
    assert.deepEqual([clock.monotonic(), clock.pending], [3_600_005, 0])
  })

  it('passes over what waits for ever', async () => {
    const clock = virtualClock()
    clock.arm(alarmAt(Infinity, () => assert.fail('never')))
    clock.arm(alarmAt(10))
    await clock.drain()
    assert.deepEqual([clock.monotonic(), clock.pending], [10, 1])
  })

  it('gives up on an endless loop and says so', async () => {
    const clock = virtualClock()
    const alarm = alarmAt(10, () => {
      alarm.dueAt += 10
      clock.arm(alarm)
    })
    clock.arm(alarm)
    await assert.rejects(clock.drain({ mostRings: 5 }), {
      code: 'endless',
      message: /^5 alarms rang and 1 more are armed, the next for 60 ms: .* endless loop/,
    })
  })

  it('also gives up when a loop keeps time from moving on during an advance', async () => {
    const clock = virtualClock()
    const alarm = alarmAt(0, () => clock.arm(alarm))
    clock.arm(alarm)
    await assert.rejects(clock.advance(1, { mostRings: 100 }), { code: 'endless' })
    assert.equal(clock.monotonic(), 0)
  })

  it('rejects with what an alarm throws, and can go on with the others', async () => {
    const clock = virtualClock()
    const rung: string[] = []
    clock.arm(
      alarmAt(1, () => {
        throw new Error('rang badly')
      }),
    )
    clock.arm(alarmAt(2, () => rung.push('second')))
    await assert.rejects(clock.drain(), /rang badly/)
    await clock.drain()
    assert.deepEqual(rung, ['second'])
  })

  it('waits for its turn when calls overlap', async () => {
    const clock = virtualClock()
    const ends = await Promise.all([
      clock.advance(10).then(() => clock.monotonic()),
      clock.advance(10).then(() => clock.monotonic()),
    ])
    assert.deepEqual(ends, [10, 20])
  })
})

describe('refusals of a virtual clock', () => {
  const clock = virtualClock()

  it('are for instants and waits that are no numbers or run backwards', async () => {
    assert.throws(() => virtualClock({ now: Number.NaN }), { code: 'invalid-options', message: /now must be/ })
    assert.throws(() => clock.jumpWall(Infinity), { code: 'invalid-options' })
    assert.throws(() => clock.arm(alarmAt(Number.NaN)), /dueAt must be an instant/)
    await assert.rejects(clock.advance(-1), /ms must be .* from 0/)
    await assert.rejects(clock.advance(Number.NaN), /ms must be/)
    await assert.rejects(clock.drain({ mostRings: 0 }), /mostRings must be/)
    await assert.rejects(clock.sleep(Number.NaN), /dueAt must be/)
  })

  it('are for an alarm that is armed twice, for a clock of the system would lose it', () => {
    const alarm = alarmAt(5)
    clock.arm(alarm)
    assert.throws(() => clock.arm(alarm), /armed already/)
    clock.disarm(alarm)
  })
})

describe('any set of alarms', () => {
  interface Ring {
    readonly dueAt: number
    readonly index: number
    readonly at: number
  }

  it('rings once each, by due instant and then by order of arming, at its own instant', async () => {
    const dueAts = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 20 })
    const steps = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(dueAts, steps, async (instants, advances) => {
        const clock = virtualClock()
        const rings: Ring[] = []
        arm(clock, instants, rings)
        for (const ms of advances) {
          await clock.advance(ms)
          assert.equal(rings.length, instants.filter(dueAt => dueAt <= clock.monotonic()).length)
        }
        await clock.drain()
        const expected = instants.map((dueAt, index) => ({ dueAt, index, at: dueAt }))
        assert.deepEqual(
          rings,
          expected.toSorted((left, right) => left.dueAt - right.dueAt || left.index - right.index),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('rings only those that were not disarmed, in the same order', async () => {
    const plan = fc.array(fc.record({ dueAt: fc.integer({ min: 0, max: 5 }), keep: fc.boolean() }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(plan, async alarms => {
        const clock = virtualClock()
        const rings: Ring[] = []
        const instants = alarms.map(({ dueAt }) => dueAt)
        const armed = arm(clock, instants, rings)
        alarms.forEach(({ keep }, index) => keep || clock.disarm(armed[index]!))
        assert.equal(clock.pending, alarms.filter(({ keep }) => keep).length)
        await clock.drain()
        const kept = alarms.flatMap(({ dueAt, keep }, index) => (keep ? [{ dueAt, index }] : []))
        const expected = kept.toSorted((left, right) => left.dueAt - right.dueAt || left.index - right.index)
        assert.deepEqual(
          rings.map(({ dueAt, index }) => ({ dueAt, index })),
          expected,
        )
      }),
      { numRuns: 50 },
    )
  })

  function arm(clock: VirtualClock, dueAts: readonly number[], rings: Ring[]): Alarm[] {
    return dueAts.map((dueAt, index) => {
      const alarm = alarmAt(dueAt, () => rings.push({ dueAt, index, at: clock.monotonic() }))
      clock.arm(alarm)
      return alarm
    })
  }
})
