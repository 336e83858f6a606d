import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { seededRandom } from '../testing/seeded-random.ts'
import { hasRoom, nextLimit } from './decide.ts'
import { withLimiterDefaults, type LimiterInput } from './policy.ts'
import { startLimit } from './state.ts'

describe('an overloaded dependency: ten workers, calls of 100 ms that differ widely, twice as many as it can serve', () => {
  it('is used well and kept fast by Gradient2 with a ceiling for slow calls', () => {
    const { perSecond, meanMs } = overload({ kind: 'gradient2', slowCallMs: 400 })
    assert.ok(perSecond > 90, `${perSecond} of 100 calls a second are served`)
    assert.ok(meanMs < 150, `they take ${meanMs} ms`)
  })

  it('is kept fast by Vegas alone, which leaves some of it unused', () => {
    const { perSecond, meanMs } = overload({ kind: 'vegas' })
    assert.ok(perSecond > 70, `${perSecond} of 100 calls a second are served`)
    assert.ok(meanMs < 120, `they take ${meanMs} ms`)
  })

  it('is slow under AIMD, unless its ceiling fits the dependency', () => {
    assert.ok(overload({ kind: 'aimd' }).meanMs > 1_000)
    assert.ok(overload({ kind: 'aimd', slowCallMs: 400 }).meanMs < 400)
  })
})

const WORKERS = 10
const SERVICE_MS = 100
const ARRIVAL_MS = 5
const CALLS = 30_000

/** Calls come at random, wait for a worker in a queue, and are refused when the limit has no room. */
function overload(input: LimiterInput): { readonly perSecond: number; readonly meanMs: number } {
  const policy = withLimiterDefaults(input)
  const state = startLimit(policy)
  const random = seededRandom(46)
  const waitMs = (meanMs: number): number => -Math.log(1 - random()) * meanMs
  const freeAt = Array.from({ length: WORKERS }, () => 0)
  const underWay: { readonly startedAt: number; readonly endsAt: number; readonly inFlight: number }[] = []
  let [now, served, totalMs] = [0, 0, 0]
  for (let call = 0; call < CALLS; call++) {
    now += waitMs(ARRIVAL_MS)
    underWay.sort((left, right) => left.endsAt - right.endsAt)
    while (underWay.length > 0 && underWay[0]!.endsAt <= now) {
      const { startedAt, endsAt, inFlight } = underWay.shift()!
      served++
      totalMs += endsAt - startedAt
      nextLimit(policy, state, { durationMs: endsAt - startedAt, inFlight, dropped: false, roll: random() })
    }
    if (!hasRoom(state, underWay.length)) continue
    const worker = freeAt.indexOf(Math.min(...freeAt))
    freeAt[worker] = Math.max(now, freeAt[worker]!) + waitMs(SERVICE_MS)
    underWay.push({ startedAt: now, endsAt: freeAt[worker], inFlight: underWay.length + 1 })
  }
  return { perSecond: (served / now) * 1_000, meanMs: totalMs / served }
}
