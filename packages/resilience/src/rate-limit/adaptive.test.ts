import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { adaptRate, cubicPerSecond, startAdaptiveRate, tokenWaitMs } from './adaptive.ts'

interface Answer {
  readonly at: number
  readonly throttled?: boolean
  readonly measuredPerSecond: number
  readonly perSecond: number
}

interface Place {
  readonly refusedPerSecond: number
  readonly refusedAt: number
  readonly at: number
  readonly perSecond: number
}

interface Case {
  readonly name: string
  readonly steps: readonly {
    readonly at: number
    readonly do: 'throttled' | 'answered' | 'take'
    readonly times?: number
    readonly waitMs?: number
  }[]
}

interface Vectors {
  readonly about: string
  readonly answers: readonly Answer[]
  readonly cubic: readonly Place[]
  readonly tokens: readonly Case[]
}

describe('vectors/adaptive-rate.json', () => {
  const url = new URL('../../../../vectors/adaptive-rate.json', import.meta.url)
  const { about: _, answers, cubic, tokens, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as Vectors

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  it('measures answers in half seconds, falls to seven tenths when it is refused, and climbs on a cubic', () => {
    const rate = startAdaptiveRate(0)
    for (const { at, throttled = false, measuredPerSecond, perSecond, ...rest } of answers) {
      assert.deepEqual(rest, {})
      adaptRate(rate, throttled, at)
      assertClose(rate.measuredPerSecond, measuredPerSecond, 1e-6)
      assertClose(rate.perSecond, perSecond, 1e-6)
    }
  })

  it('is flat around the rate that was refused, steep on both sides, and indifferent to a clock that steps back', () => {
    for (const { at, perSecond, refusedPerSecond, refusedAt, ...rest } of cubic) {
      assert.deepEqual(rest, {})
      assertClose(cubicPerSecond({ refusedPerSecond, refusedAt }, at), perSecond, 1e-7)
    }
  })

  for (const { name, steps, ...rest } of tokens)
    it(name, () => {
      assert.deepEqual(rest, {})
      const rate = startAdaptiveRate(0)
      for (const { at, do: verb, times = 1, waitMs, ...rest } of steps) {
        assert.deepEqual(rest, {})
        if (verb === 'take') for (let time = 0; time < times; time++) assert.equal(tokenWaitMs(rate, at), waitMs)
        else adaptRate(rate, verb === 'throttled', at)
      }
    })
})

const anyHistory = fc.array(
  fc.record({
    afterMs: fc.constantFrom(-100, 0, 0, 1, 30, 500, 2_000, 600_000),
    do: fc.constantFrom('take', 'take', 'answered', 'throttled'),
  }),
  { maxLength: 300 },
)

describe('an adaptive rate, whatever happens', () => {
  it('is finite, at least one call in two seconds, and at most twice what was measured above that', () => {
    fc.assert(
      fc.property(anyHistory, history => {
        const rate = startAdaptiveRate(0)
        let now = 0
        for (const { afterMs, do: verb } of history) {
          now += afterMs
          if (verb === 'take') tokenWaitMs(rate, now)
          else adaptRate(rate, verb === 'throttled', now)
          assert.ok(
            Object.values(rate).every(value => Number.isFinite(Number(value))),
            JSON.stringify(rate),
          )
          assert.ok(rate.perSecond >= 0.5 && rate.perSecond <= Math.max(0.5, 2 * rate.measuredPerSecond))
          assert.ok(rate.tokens >= 0 && rate.tokens <= rate.burst)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is never raised by a refusal once it limits', () => {
    fc.assert(
      fc.property(anyHistory, history => {
        const rate = startAdaptiveRate(0)
        let now = 0
        for (const { afterMs, do: verb } of history) {
          now += afterMs
          const { isLimiting, perSecond } = rate
          if (verb === 'take') tokenWaitMs(rate, now)
          else adaptRate(rate, verb === 'throttled', now)
          if (verb === 'throttled' && isLimiting) assert.ok(rate.perSecond <= perSecond)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('gives whoever waits as long as it was told a token, if nobody else took it', () => {
    fc.assert(
      fc.property(anyHistory, history => {
        const rate = startAdaptiveRate(0)
        let now = 0
        for (const { afterMs, do: verb } of history) {
          now += afterMs
          if (verb !== 'take') adaptRate(rate, verb === 'throttled', now)
        }
        const at = Math.max(now, rate.countedAt)
        const waitMs = tokenWaitMs(rate, at)
        assert.ok(waitMs >= 0 && waitMs <= 2_000, `${waitMs}`)
        // A hair of rounding may cost one more millisecond.
        if (waitMs > 0) assert.ok(tokenWaitMs(rate, at + waitMs) <= 1)
      }),
      { numRuns: 500 },
    )
  })
})

function assertClose(is: number, wanted: number, tolerance: number): void {
  assert.ok(Math.abs(is - wanted) < tolerance, `${is}, not ${wanted}`)
}
