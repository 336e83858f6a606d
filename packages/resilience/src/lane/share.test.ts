import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { giveSlotBack, isReady, joinShares, leaveShares, newShares, nextLane, setReady, takeSlot } from './share.ts'
import { fill } from './share.test-kit.ts'
import type { LaneShare, Shares } from './share.ts'

/** Lanes by name, `tenant/lane`, all of them ready for ever. */
function sharing(slots: number, names: readonly string[]) {
  const shares = newShares<string>(slots)
  const lanes = new Map<string, LaneShare<string>>()
  const join = (name: string): LaneShare<string> => {
    const lane = joinShares(shares, name.split('/')[0]!, name)
    lanes.set(name, lane)
    setReady(shares, lane, true)
    return lane
  }
  names.forEach(join)
  return { shares, lanes, join }
}

const takenBy = (shares: Shares<string>): { [tenant: string]: number } =>
  Object.fromEntries([...shares.tenants].map(([name, { taken }]) => [name, taken]))

describe('fair shares', () => {
  it('are of slots: the next goes to the tenant with the fewest, then to its lane with the fewest', () => {
    const { shares } = sharing(100, ['a/1', 'a/2', 'b/1'])
    assert.deepEqual(fill(shares, 6), ['a/1', 'b/1', 'a/2', 'b/1', 'a/1', 'b/1'])
  })

  it('of who holds slots long are no larger: what the others give back goes round among them', () => {
    const { shares, lanes } = sharing(20, ['slow/1', 'quick/1'])
    fill(shares)
    const { slow } = takenBy(shares)
    for (let round = 0; round < 100; round++) {
      giveSlotBack(shares, lanes.get('quick/1')!)
      fill(shares)
    }
    assert.equal(takenBy(shares)['slow'], slow)
  })

  it('among equals go to the one unserved longest', () => {
    const { shares, lanes } = sharing(3, ['a/1', 'b/1', 'c/1', 'd/1'])
    assert.deepEqual(fill(shares), ['a/1', 'b/1', 'c/1'])
    giveSlotBack(shares, lanes.get('b/1')!)
    giveSlotBack(shares, lanes.get('a/1')!)
    assert.deepEqual(fill(shares), ['d/1', 'a/1'], 'd was never served, and a before b')
  })

  it('leave a tenth to newcomers: one lane alone has four fifths, one tenant nine tenths', () => {
    const alone = sharing(100, ['a/1'])
    assert.equal(fill(alone.shares).length, 81)
    const many = sharing(
      100,
      Array.from({ length: 50 }, (_, n) => `a/${n}`),
    )
    assert.equal(fill(many.shares).length, 90)
  })

  it('give all of very few slots', () => {
    for (const slots of [1, 2, 5]) assert.equal(fill(sharing(slots, ['a/1']).shares).length, slots)
  })

  it('pass over a tenant whose lanes have enough, and serve the next', () => {
    const { shares, lanes } = sharing(30, ['a/1', 'b/1', 'b/2', 'b/3'])
    fill(shares)
    assert.ok(nextLane(shares) === undefined)
    for (const name of ['b/1', 'b/2', 'b/3']) setReady(shares, lanes.get(name)!, false)
    giveSlotBack(shares, lanes.get('b/1')!)
    assert.equal(isReady(lanes.get('a/1')!), true)
    assert.equal(isReady(lanes.get('b/1')!), false)
  })

  it('of lanes that left are given back as they end, and their tenant is forgotten then', () => {
    const { shares, lanes } = sharing(10, ['a/1'])
    fill(shares, 2)
    leaveShares(shares, lanes.get('a/1')!)
    assert.deepEqual(takenBy(shares), { a: 2 })
    giveSlotBack(shares, lanes.get('a/1')!)
    giveSlotBack(shares, lanes.get('a/1')!)
    assert.deepEqual([shares.taken, shares.tenants.size], [0, 0])
  })
})

const anySteps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('fill' as const), most: fc.nat(20) }),
    fc.record({ do: fc.constantFrom('end' as const, 'ready' as const, 'unready' as const), pick: fc.nat() }),
  ),
  { maxLength: 150 },
)

describe('fair shares, whatever happens', () => {
  it('pass no cap, go to who has fewest, and are counted right', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 6 }), anySteps, (slots, many, steps) => {
        const names = Array.from({ length: many * 2 }, (_, n) => `${n % many}/${n}`)
        const { shares, lanes } = sharing(slots, names)
        const all = [...lanes.values()]
        const busy: LaneShare<string>[] = []
        for (const step of steps) {
          const picked = step.do === 'fill' ? undefined : all[step.pick % all.length]!
          if (step.do === 'ready' || step.do === 'unready') setReady(shares, picked!, step.do === 'ready')
          if (step.do === 'end' && busy.length > 0) giveSlotBack(shares, busy.splice(step.pick % busy.length, 1)[0]!)
          for (let n = step.do === 'fill' ? step.most : 0; n > 0; n--) {
            const lane = nextLane(shares)
            if (lane === undefined) break
            const free = slots - shares.taken
            assert.ok(isReady(lane))
            assert.ok(free > 0 && lane.tenant.taken < 9 * free, 'nine times the slots then free')
            const ready = all.filter(other => isReady(other) && other.tenant === lane.tenant)
            assert.equal(lane.taken, Math.min(...ready.map(({ taken }) => taken)))
            takeSlot(shares, lane)
            busy.push(lane)
          }
          assert.equal(shares.taken, busy.length)
          for (const lane of all) assert.equal(lane.taken, busy.filter(other => other === lane).length)
        }
      }),
    )
  })

  it('starve nobody: if no slot is held for ever, everybody who is ready is served', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 2, max: 30 }), (slots, many) => {
        const names = Array.from({ length: many }, (_, n) => `${n % 3}/${n}`)
        const { shares, lanes } = sharing(slots, names)
        const underWay = fill(shares)
        const served = new Set<string>()
        for (let round = 0; round < 3 * many; round++) {
          giveSlotBack(shares, lanes.get(underWay.shift()!)!)
          for (const name of fill(shares)) {
            underWay.push(name)
            served.add(name)
          }
        }
        assert.equal(served.size, many)
      }),
    )
  })

  it('let a newcomer in at once while busy tenants ≤ (slots − 1) / 9, and with the next end otherwise', () => {
    fc.assert(
      fc.property(fc.integer({ min: 31, max: 300 }), fc.integer({ min: 1, max: 30 }), (slots, many) => {
        const { shares, lanes, join } = sharing(
          slots,
          Array.from({ length: many }, (_, n) => `${n}/only`),
        )
        const busy = fill(shares)
        const newcomer = join('newcomer/only')
        if (many <= (slots - 1) / 9) assert.equal(nextLane(shares), newcomer)
        else {
          giveSlotBack(shares, lanes.get(busy[0]!)!)
          assert.equal(nextLane(shares), newcomer)
        }
      }),
    )
  })
})
