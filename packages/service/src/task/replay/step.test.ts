import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { countChange, countMoved, NO_COUNTS } from './counts.ts'
import { act, type ReplayDocument } from './replay.ts'
import { aReplay, NOW, someCounts } from './replay.test-kit.ts'
import { afterMove, dueAtOf, leftOf, nextStep, rateNow, stopOf, turnsOf } from './step.ts'

const DAY_MS = 86_400_000

function becomes(replay: ReplayDocument, counts = someCounts(), now = NOW): ReplayDocument | undefined {
  const step = nextStep(replay, { counts, now })
  return step.kind === 'become' ? step.replay : undefined
}

describe('turns', () => {
  const fast = aReplay({ ratePerSecond: 100 })

  it('come at the rate, no more than a tenth of a second ahead: a pause comes too late for these alone', () => {
    const turns = turnsOf(fast, someCounts(), NOW)
    assert.deepEqual(
      turns,
      Array.from({ length: 10 }, (_, n) => NOW + n * 10),
    )
    assert.deepEqual(turnsOf(aReplay({ ratePerSecond: 0.1 }), someCounts(), NOW), [NOW])
    assert.deepEqual(turnsOf(aReplay({ ratePerSecond: 0.1, nextAt: NOW + 101 }), someCounts(), NOW), [])
  })

  it('wait for those that have not been sent: what is held up is not piled up', () => {
    assert.equal(turnsOf(fast, someCounts({ waiting: 7 }), NOW).length, 3)
    assert.deepEqual(turnsOf(fast, someCounts({ waiting: 10 }), NOW), [])
    assert.equal(turnsOf(fast, someCounts({ underWay: 50 }), NOW).length, 10)
  })

  it('make up for a busy moment, a tenth of a second at a time; not for a longer one, nor for a late beginning', () => {
    const firstAfter = (lateMs: number, moved = 1): number =>
      turnsOf({ ...fast, nextAt: NOW - lateMs }, someCounts({ moved }), NOW)[0]! - NOW
    assert.deepEqual([firstAfter(300), firstAfter(5_000), firstAfter(300, 0)], [-300, -500, 0])
    assert.equal(turnsOf({ ...fast, nextAt: NOW - 300 }, someCounts({ moved: 1 }), NOW).length, 10)
  })

  it('are those of the canary, until it is proven', () => {
    const canary = aReplay({
      ratePerSecond: 100,
      status: 'CANARY',
      isProven: false,
      start: { at: NOW, moved: 20, sent: 20 },
    })
    assert.equal(turnsOf(canary, someCounts({ moved: 22, sent: 22 }), NOW).length, 3)
    assert.equal(turnsOf(canary, someCounts({ moved: 25, sent: 25 }), NOW).length, 0)
  })

  it('of a hundredth of a second are due together, never early, and no rate is lost by it', () => {
    const turns = Array.from({ length: 60 }, (_, at) => NOW + (at * 1_000) / 600)
    const dueAts = turns.map(dueAtOf)
    assert.equal(new Set(dueAts).size, 11)
    for (const [at, dueAt] of dueAts.entries()) assert.ok(dueAt >= turns[at]! && dueAt - turns[at]! < 10)
  })

  it('keep the rate within one part in a hundred, though looks come unevenly, and never burst after a stall', () => {
    const look = fc.record({ ms: fc.integer({ min: 50, max: 700 }), stallMs: fc.constantFrom(0, 0, 0, 0, 5_000) })
    const looks = fc.array(look, { minLength: 30, maxLength: 60 })
    fc.assert(
      fc.property(looks, fc.double({ min: 0.5, max: 200, noNaN: true }), (steps, ratePerSecond) => {
        let replay = aReplay({ ratePerSecond, selected: 1_000_000 })
        let now = NOW
        const turns: number[] = []
        let stalledMs = 0
        for (const { ms, stallMs } of steps) {
          now += ms + stallMs
          // Whoever was late by more than what is planned ahead has lost the time.
          stalledMs += Math.max(0, now - replay.nextAt)
          const counts = someCounts({ waiting: turns.filter(turn => turn > now).length })
          const taken = turnsOf(replay, counts, now)
          turns.push(...taken)
          if (taken.length > 0)
            replay = afterMove(replay, { taken, isWalked: false, nextCursor: 'on' }, { counts, now })
        }
        const gapMs = 1_000 / ratePerSecond
        for (const [at, turn] of turns.entries())
          if (at > 0) assert.ok(turn - turns[at - 1]! >= gapMs * 0.999, 'none comes sooner than its turn')
        const spanMs = (turns.at(-1) ?? NOW) - (turns[0] ?? NOW)
        const wanted = (spanMs - stalledMs) / gapMs
        assert.ok(turns.length >= wanted * 0.99 - 2, `${turns.length} of ${wanted}`)
      }),
    )
  })
})

describe('the stop rule', () => {
  it('trips when more than its share of the last so many failed', () => {
    const recent = `${'1'.repeat(11)}${'0'.repeat(39)}`
    assert.deepEqual(stopOf(aReplay(), someCounts({ sent: 50, recent })), { failed: 11, of: 50, overLast: 50 })
    assert.equal(stopOf(aReplay(), someCounts({ sent: 50, recent: `0${recent.slice(1)}` })), undefined)
    assert.equal(stopOf(aReplay(), someCounts({ sent: 51, recent: `${recent}0` })), undefined)
  })

  it('need not see them all, when those it saw are enough', () => {
    const counts = someCounts({ sent: 12, recent: `0${'1'.repeat(11)}` })
    assert.deepEqual(stopOf(aReplay(), counts), { failed: 11, of: 12, overLast: 50 })
    assert.equal(stopOf(aReplay(), someCounts({ sent: 10, recent: '1'.repeat(10) })), undefined)
  })

  it('looks at no more than a canary, or a replay of few, has', () => {
    assert.deepEqual(stopOf(aReplay({ selected: 4 }), someCounts({ sent: 1, recent: '1' })), {
      failed: 1,
      of: 1,
      overLast: 4,
    })
    const canary = aReplay({ isProven: false })
    assert.equal(stopOf(canary, someCounts({ sent: 5, recent: '00001' })), undefined)
    assert.deepEqual(stopOf(canary, someCounts({ sent: 4, recent: '0011' })), { failed: 2, of: 4, overLast: 5 })
  })

  it('forgets what came before a resume', () => {
    const start = { at: NOW, moved: 50, sent: 50 }
    assert.equal(stopOf(aReplay({ start }), someCounts({ sent: 50, recent: '1'.repeat(50) })), undefined)
    const counts = someCounts({ sent: 60, recent: `${'1'.repeat(50)}${'0'.repeat(10)}` })
    assert.equal(stopOf(aReplay({ start }), counts), undefined)
  })

  it('never trips at 1, and at the first failure at 0', () => {
    const counts = someCounts({ sent: 3, recent: '111' })
    assert.equal(stopOf(aReplay({ stopOnFailureRate: 1 }), counts), undefined)
    assert.deepEqual(stopOf(aReplay({ stopOnFailureRate: 0 }), someCounts({ sent: 1, recent: '1' }))?.failed, 1)
  })
})

describe('a replay', () => {
  it('counts first, and then waits a quarter of an hour to be run', () => {
    assert.deepEqual(nextStep(aReplay({ status: 'PLANNING' }), { counts: NO_COUNTS, now: NOW }), { kind: 'count' })
    const planned = aReplay({ status: 'PLANNED' })
    assert.equal(becomes(planned, NO_COUNTS, NOW + 899_999), undefined)
    const late = becomes(planned, NO_COUNTS, NOW + 900_000)
    assert.deepEqual([late?.status, late?.endedFor], ['CANCELLED', 'not-run'])
  })

  it('waits for all of its canary before it goes on', () => {
    const canary = aReplay({ status: 'CANARY', isProven: false, nextAt: NOW + 9 })
    const step = (waiting: number, underWay: number, sent: number) =>
      becomes(canary, someCounts({ moved: 5, waiting, underWay, sent, recent: '0'.repeat(sent) }))?.status
    assert.equal(step(1, 0, 4), undefined)
    assert.equal(step(0, 1, 4), undefined)
    assert.equal(step(0, 0, 5), 'RUNNING')
  })

  it('stops by its rule, and says what tripped it', () => {
    const stopped = becomes(aReplay(), someCounts({ sent: 11, recent: '1'.repeat(11) }))
    assert.deepEqual([stopped?.status, stopped?.stopped], ['STOPPED', { failed: 11, of: 11, overLast: 50 }])
  })

  it('waits for one that was set going before it, and says so', () => {
    const counts = someCounts()
    const waits = nextStep(aReplay(), { counts, now: NOW, ahead: 'another' })
    assert.ok(waits.kind === 'become')
    assert.equal(waits.replay.waitsFor, 'another')
    assert.deepEqual(nextStep(waits.replay, { counts, now: NOW, ahead: 'another' }), { kind: 'rest' })
    const goesOn = nextStep(waits.replay, { counts, now: NOW })
    assert.ok(goesOn.kind === 'become')
    assert.equal('waitsFor' in goesOn.replay, false)
  })

  it('has finished when everything was moved and sent', () => {
    const walked = aReplay({ isWalked: true })
    assert.equal(becomes(walked, someCounts({ moved: 98, waiting: 1, sent: 97 })), undefined)
    const finished = becomes(walked, someCounts({ moved: 98, sent: 98 }))
    assert.equal(finished?.status, 'FINISHED')
    assert.deepEqual(finished.skipped, [{ because: 'no-longer-dead', count: 2, sampleTaskIds: [] }])
    assert.equal(leftOf(finished, someCounts({ moved: 98, sent: 98 })), 0)
  })

  it('is cancelled after a week of being halted, and forgotten a week after its end', () => {
    for (const status of ['PAUSED', 'STOPPED'] as const)
      assert.equal(becomes(aReplay({ status }), NO_COUNTS, NOW + 7 * DAY_MS)?.endedFor, 'not-resumed')
    for (const status of ['CANCELLED', 'FINISHED'] as const)
      assert.deepEqual(nextStep(aReplay({ status }), { counts: NO_COUNTS, now: NOW + 7 * DAY_MS }), { kind: 'forget' })
  })

  it('leaves the rest dead when it is cancelled', () => {
    const cancelled = act(aReplay(), { kind: 'cancel' }, { counts: NO_COUNTS, now: NOW })!
    assert.equal(leftOf(cancelled, someCounts({ moved: 40 })), 60)
  })

  it('is forgotten a day after its end if it never ran: two hundred idle plans must not keep anybody from a real one', () => {
    const unrun = aReplay({ status: 'CANCELLED', pulses: [] })
    const stepAfter = (ms: number): string => nextStep(unrun, { counts: NO_COUNTS, now: NOW + ms }).kind
    assert.deepEqual([stepAfter(DAY_MS - 1), stepAfter(DAY_MS)], ['rest', 'forget'])
  })

  it('tells the rate at which it has sent, over some seconds', () => {
    const replay = aReplay({ pulses: [{ at: NOW, sent: 100 }] })
    assert.equal(rateNow(replay, someCounts({ sent: 180 }), NOW + 8_000), 10)
    assert.equal(rateNow(aReplay({ status: 'PAUSED' }), someCounts({ sent: 9 }), NOW + 1_000), 0)
    const beat = becomes(aReplay({ nextAt: NOW + 9_000 }), someCounts({ sent: 50 }), NOW + 5_000)
    assert.deepEqual(beat?.pulses, [
      { at: NOW, sent: 0 },
      { at: NOW + 5_000, sent: 50 },
    ])
  })
})

describe('counts', () => {
  it('add up, whatever becomes of each task', () => {
    const outcome = fc.constantFrom('success', 'transient', 'ignored', 'permanent')
    const life = fc.constantFrom('released', 'sent', 'cancelled', 'expired')
    fc.assert(
      fc.property(fc.array(fc.tuple(life, outcome), { maxLength: 300 }), tasks => {
        let counts = NO_COUNTS
        for (const [kind, firstOutcome] of tasks) {
          counts = countChange(countMoved(counts), { from: 'PENDING', status: 'IN_FLIGHT', attemptNumber: 0 })
          const under = { from: 'IN_FLIGHT', attemptNumber: 0 } as const
          if (kind === 'released') counts = countChange(counts, { ...under, status: 'PENDING' })
          if (kind === 'cancelled') counts = countChange(counts, { ...under, status: 'CANCELLED' })
          if (kind === 'expired') counts = countChange(counts, { ...under, status: 'EXHAUSTED' })
          const status = firstOutcome === 'success' ? 'SUCCEEDED' : 'PENDING'
          if (kind === 'sent')
            counts = countChange(counts, { from: 'IN_FLIGHT', status, attemptNumber: 1, firstOutcome })
        }
        const ofKind = (kind: string) => tasks.filter(([each]) => each === kind).length
        assert.equal(counts.moved, tasks.length)
        assert.deepEqual([counts.waiting, counts.underWay], [ofKind('released'), 0])
        assert.equal(counts.sent, ofKind('sent'))
        assert.equal(counts.recent.length, Math.min(200, counts.sent))
        assert.deepEqual([counts.cancelled, counts.exhausted], [ofKind('cancelled'), ofKind('expired')])
      }),
    )
  })
})
