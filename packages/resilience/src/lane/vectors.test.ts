import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { rampLimit, rampReaches } from './ramp.ts'
import { giveSlotBack, joinShares, newShares, setReady, type LaneShare } from './share.ts'
import { fill } from './share.test-kit.ts'

type Step =
  | { readonly do: 'ready' | 'unready' | 'end'; readonly lanes: readonly string[] }
  | { readonly do: 'fill'; readonly most?: number; readonly served: readonly string[] }

interface Sharing {
  readonly name: string
  readonly slots: number
  readonly steps: readonly Step[]
}

interface Vectors {
  readonly about: string
  readonly ramp: readonly { readonly sinceMs: number; readonly limit: number }[]
  readonly shares: readonly Sharing[]
}

describe('vectors/lanes.json', () => {
  const url = new URL('../../../../vectors/lanes.json', import.meta.url)
  const { about: _, ramp, shares, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as Vectors

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { sinceMs, limit, ...rest } of ramp)
    it(`ramp: ${limit} after ${sinceMs} ms`, () => {
      assert.deepEqual(rest, {})
      assert.equal(rampLimit(1_000, 1_000 + sinceMs), limit)
      assert.ok(rampReaches(limit, 1_000) <= 1_000 + sinceMs)
    })

  for (const { name, slots, steps, ...rest } of shares)
    it(`shares: ${name}`, () => {
      assert.deepEqual(rest, {})
      run(slots, steps)
    })
})

function run(slots: number, steps: readonly Step[]): void {
  const shares = newShares<string>(slots)
  const known = new Map<string, LaneShare<string>>()
  const laneOf = (name: string): LaneShare<string> => {
    const lane = known.get(name) ?? joinShares(shares, name.split('/')[0]!, name)
    known.set(name, lane)
    return lane
  }

  for (const [place, step] of steps.entries()) {
    if (step.do === 'fill') {
      const { do: _, most = Infinity, served, ...rest } = step
      assert.deepEqual(rest, {})
      assert.deepEqual(fill(shares, most), served, `step ${place + 1}`)
    } else {
      const { do: verb, lanes, ...rest } = step
      assert.deepEqual(rest, {})
      for (const name of lanes)
        if (verb === 'end') giveSlotBack(shares, laneOf(name))
        else setReady(shares, laneOf(name), verb === 'ready')
    }
  }
}
