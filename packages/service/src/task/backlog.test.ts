import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { fullForCallback, fullScope, type FullScope, type OpenLanes, type Waiting } from './backlog.ts'

const LANES = 3
const NO_LANES: OpenLanes = { isOpen: false, ofTenant: 0, inAll: 0 }

/** Tasks that wait, by tenant and lane, under a total. */
class Backlog {
  readonly #total: number
  readonly #byTenant = new Map<number, number[]>()

  constructor(total: number) {
    this.#total = total
  }

  add(tenant: number, lane: number): FullScope | undefined {
    const scope = fullScope(this.waiting(tenant, lane), { perLane: Infinity, total: this.#total })
    if (scope === undefined) this.#lanesOf(tenant)[lane]!++
    return scope
  }

  remove(tenant: number, lane: number): void {
    const lanes = this.#lanesOf(tenant)
    lanes[lane] = Math.max(0, lanes[lane]! - 1)
  }

  waiting(tenant: number, lane: number): Waiting {
    const lanes = this.#lanesOf(tenant)
    const inAll = sum([...this.#byTenant.values()].map(sum))
    return { ofLane: lanes[lane]!, ofTenant: sum(lanes), inAll, lanes: NO_LANES }
  }

  #lanesOf(tenant: number): number[] {
    let lanes = this.#byTenant.get(tenant)
    if (lanes === undefined) this.#byTenant.set(tenant, (lanes = Array<number>(LANES).fill(0)))
    return lanes
  }
}

describe('a backlog that tenants share', () => {
  it('of 10ⁿ has room for a newcomer, whatever n others do', () => {
    const step = fc.record({
      kind: fc.constantFrom('fill', 'fill', 'add', 'remove', 'empty'),
      tenant: fc.nat(2),
      lane: fc.nat(LANES - 1),
    })
    const totals = fc.record({ tenants: fc.integer({ min: 1, max: 3 }), over: fc.nat(50) })
    fc.assert(
      fc.property(totals, fc.array(step, { maxLength: 30 }), ({ tenants, over }, steps) => {
        const total = 10 ** tenants + over
        const backlog = new Backlog(total)
        for (const { kind, tenant: any, lane } of steps) {
          const tenant = any % tenants
          if (kind === 'add') backlog.add(tenant, lane)
          else if (kind === 'remove') backlog.remove(tenant, lane)
          else if (kind === 'fill') while (backlog.add(tenant, lane) === undefined);
          else for (let n = 0; n < total; n++) backlog.remove(tenant, lane)
          const { inAll } = backlog.waiting(tenant, lane)
          assert.ok(inAll < total, `${inAll} of ${total} wait`)
        }
        assert.equal(backlog.add(tenants, 0), undefined)
      }),
      { numRuns: 300 },
    )
  })

  it('gives whoever is alone nine tenths of it, and four fifths to one lane', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), total => {
        const backlog = new Backlog(total)
        while (backlog.add(0, 0) === undefined);
        assert.ok(backlog.waiting(0, 0).ofLane >= Math.floor(0.8 * total))
        for (let lane = 1; lane < LANES; lane++) while (backlog.add(0, lane) === undefined);
        const { ofTenant } = backlog.waiting(0, 0)
        assert.ok(ofTenant >= Math.floor(0.89 * total) && ofTenant <= Math.ceil(0.9 * total), `${ofTenant} of ${total}`)
      }),
      { numRuns: 50 },
    )
  })

  it('says what is full: the lane, else all of it, else what its tenant may have of it', () => {
    const scopeOf = (ofLane: number, ofTenant: number, inAll: number): FullScope | undefined =>
      fullScope({ ofLane, ofTenant, inAll, lanes: NO_LANES }, { perLane: 5, total: 20 })
    assert.equal(scopeOf(5, 20, 20), 'lane')
    assert.equal(scopeOf(4, 18, 20), 'total')
    // What comes back without being asked lifts it above its limit.
    assert.equal(scopeOf(0, 0, 25), 'total')
    assert.equal(scopeOf(4, 18, 18), 'share')
    assert.equal(scopeOf(4, 17, 17), undefined)
    assert.equal(scopeOf(0, 0, 19), undefined)
  })

  it('keeps half of a lane for callbacks of what came before', () => {
    const scopeOf = (ofLane: number): FullScope | undefined =>
      fullForCallback({ ofLane, ofTenant: ofLane, inAll: ofLane, lanes: NO_LANES }, { perLane: 10, total: 100 })
    assert.deepEqual([scopeOf(4), scopeOf(5)], [undefined, 'callback'])
    const full = { ofLane: 0, ofTenant: 0, inAll: 10, lanes: NO_LANES }
    assert.equal(fullForCallback(full, { perLane: 10, total: 10 }), 'callback')
  })

  it('that has no limit is never full', () => {
    const limits = { perLane: Infinity, total: Infinity }
    const lanes = { isOpen: false, ofTenant: 1e9, inAll: 1e9 }
    assert.equal(fullScope({ ofLane: 1e9, ofTenant: 1e9, inAll: 1e9, lanes }, limits), undefined)
  })

  it('opens lanes in fair shares, and no more than may be; what is open needs no share', () => {
    const scopeOf = (lanes: OpenLanes): FullScope | undefined =>
      fullScope({ ofLane: 0, ofTenant: 0, inAll: 0, lanes }, { perLane: 5, total: 20, lanes: 10 })
    assert.equal(scopeOf({ isOpen: false, ofTenant: 8, inAll: 8 }), undefined)
    assert.equal(scopeOf({ isOpen: false, ofTenant: 9, inAll: 9 }), 'lanes')
    assert.equal(scopeOf({ isOpen: false, ofTenant: 0, inAll: 9 }), undefined)
    assert.equal(scopeOf({ isOpen: false, ofTenant: 0, inAll: 10 }), 'lanes')
    // A file may hold more than a later version would have let in.
    assert.equal(scopeOf({ isOpen: false, ofTenant: 0, inAll: 99 }), 'lanes')
    assert.equal(scopeOf({ isOpen: true, ofTenant: 99, inAll: 99 }), undefined)
  })
})

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
