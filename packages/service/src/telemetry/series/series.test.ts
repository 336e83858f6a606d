import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { countCall, newSeries, noteHeld, slotsOf, type Series } from './series.ts'
import type { Slot } from './slot.ts'

/** The beginning of a minute. */
const START = 1_767_225_600_000
const FIRST_SECOND = START / 1_000
const FIRST_MINUTE = START / 60_000
const EMPTY: Slot = { first: 0, retry: 0, succeeded: 0, failed: 0, held: 0 }

function call(
  series: Series,
  atMs: number,
  parts: { isFirst?: boolean; isSuccess?: boolean; durationMs?: number } = {},
) {
  const { isFirst = true, isSuccess = true, durationMs = 10 } = parts
  countCall(series, { isFirst, isSuccess, durationMs }, START + atMs)
}

function seconds(series: Series, from: number, to: number, nowMs = to * 1_000): Slot[] {
  return slotsOf(series, 'second', { from: FIRST_SECOND + from, to: FIRST_SECOND + to }, START + nowMs)
}

function minutes(series: Series, from: number, to: number): Slot[] {
  return slotsOf(series, 'minute', { from: FIRST_MINUTE + from, to: FIRST_MINUTE + to }, START + to * 60_000)
}

describe('a series', () => {
  it('counts first attempts and retries, how they ended and how long they took, second by second', () => {
    const series = newSeries(START)
    call(series, 0, { durationMs: 5 })
    call(series, 999, { isFirst: false, isSuccess: false, durationMs: 15 })
    call(series, 2_000)
    assert.deepEqual(seconds(series, 0, 3), [
      { first: 1, retry: 1, succeeded: 1, failed: 1, held: 0, latencyMs: { p50: 5, p99: 15 } },
      EMPTY,
      { first: 1, retry: 0, succeeded: 1, failed: 0, held: 0, latencyMs: { p50: 10, p99: 10 } },
    ])
  })

  it('merges seconds into minutes: counts are added, of what was held the most is kept', () => {
    const series = newSeries(START)
    call(series, 0, { durationMs: 1 })
    noteHeld(series, 40, START + 10_000)
    noteHeld(series, 7, START + 20_000)
    call(series, 59_999, { isFirst: false, durationMs: 9 })
    call(series, 60_000)
    assert.deepEqual(minutes(series, 0, 2), [
      { first: 1, retry: 1, succeeded: 2, failed: 0, held: 40, latencyMs: { p50: 1, p99: 9 } },
      { first: 1, retry: 0, succeeded: 1, failed: 0, held: 0, latencyMs: { p50: 10, p99: 10 } },
    ])
  })

  it('forgets a second after a quarter of an hour, and never shows an old one in the place of a new one', () => {
    const series = newSeries(START)
    call(series, 0)
    call(series, 1_000)
    assert.deepEqual(
      seconds(series, 0, 2, 899_000).map(({ first }) => first),
      [1, 1],
    )
    call(series, 900_000)
    assert.deepEqual(
      seconds(series, 0, 2, 901_000).map(({ first }) => first),
      [0, 1],
    )
    call(series, 10_000_000)
    assert.deepEqual(seconds(series, 9_101, 10_001).filter(({ first }) => first > 0).length, 1)
  })

  it('adds to the second under way while the clock is behind', () => {
    const series = newSeries(START)
    call(series, 5_000)
    call(series, 4_000)
    assert.equal(seconds(series, 5, 6)[0]!.first, 2)
  })

  it('has no latency for attempts whose end nobody saw', () => {
    const series = newSeries(START)
    countCall(series, { isFirst: true, isSuccess: false, durationMs: undefined }, START)
    assert.deepEqual(seconds(series, 0, 1), [{ ...EMPTY, first: 1, failed: 1 }])
  })

  it('loses no call, in seconds and in minutes, whatever the gaps between them', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 40 }), gapsMs => {
        const series = newSeries(START)
        let atMs = 0
        for (const gapMs of gapsMs) call(series, (atMs += gapMs))
        const end = Math.floor(atMs / 60_000) + 1
        const inSeconds = seconds(series, 0, end * 60).reduce((sum, { first }) => sum + first, 0)
        const inMinutes = minutes(series, 0, end).reduce((sum, { first }) => sum + first, 0)
        assert.deepEqual([inSeconds, inMinutes], [gapsMs.length, gapsMs.length])
      }),
    )
  })
})
