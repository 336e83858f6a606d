import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { newSharedRate, takeToken } from './shared-rate.ts'

const limits = { perSecond: 100, burst: 100 }

interface Asking {
  readonly from?: number
  readonly everyMs?: number
  /** Waits as long as it was told, in whole seconds, where it was turned away. */
  readonly isPatient?: boolean
}

/** Each tenant asks again and again, every millisecond unless said otherwise; answers how many tokens each has taken. */
function takenBy(tenants: { readonly [tenant: string]: Asking }, ms: number, of = limits): Map<string, number> {
  const rate = newSharedRate(of, 0)
  const taken = new Map(Object.keys(tenants).map(tenant => [tenant, 0]))
  const nextAt = new Map(Object.entries(tenants).map(([tenant, { from = 0 }]) => [tenant, from]))
  for (let now = 0; now < ms; now++)
    for (const [tenant, { everyMs = 1, isPatient }] of Object.entries(tenants)) {
      if (now < nextAt.get(tenant)!) continue
      const waitMs = takeToken(rate, tenant, now)
      if (waitMs === 0) taken.set(tenant, taken.get(tenant)! + 1)
      nextAt.set(tenant, now + (isPatient ? Math.ceil(waitMs / 1_000) * 1_000 : everyMs))
    }
  return taken
}

describe('a rate that tenants share', () => {
  it('is all of one that is alone, with nine tenths of the burst', () => {
    const taken = takenBy({ a: { from: 0 } }, 10_001).get('a')!
    assert.ok(Math.abs(taken - 1_090) <= 2, String(taken))
  })

  it('has a token at once for whoever comes, though another asks without end', () => {
    const rate = newSharedRate(limits, 0)
    const waits: number[] = []
    for (let now = 0; now < 5_000; now++) {
      takeToken(rate, 'busy', now)
      if (now % 500 === 499) waits.push(takeToken(rate, 'quiet', now))
    }
    assert.deepEqual(waits, Array<number>(10).fill(0))
  })

  it('is divided equally between those who ask without end, whoever came first and asks first', () => {
    const taken = takenBy({ a: { from: 0 }, b: { from: 5_000 }, c: { from: 5_000 } }, 65_000)
    const [a, b, c] = [...taken.values()]
    // 5 s alone and the burst are a's; then a minute at a third each.
    for (const [count, expected] of [
      [a!, 2_590],
      [b!, 2_000],
      [c!, 2_000],
    ] as const)
      assert.ok(Math.abs(count - expected) < 100, `${count} for ${expected}`)
  })

  it('is divided equally at a small rate, too, however seldom one asks and how many the others are', () => {
    for (const perSecond of [1, 5, 11])
      for (const busy of [['a'], ['a', 'c', 'd']]) {
        const small = { perSecond, burst: perSecond }
        const tenants = Object.fromEntries([...busy, 'b'].map(tenant => [tenant, {}]))
        const part = (60 * perSecond) / (busy.length + 1)
        const seldom = takenBy({ ...tenants, b: { from: 5_000, everyMs: 250 } }, 65_000, small).get('b')!
        const wanted = Math.min(part, 60 * 4)
        assert.ok(seldom >= 0.7 * wanted, `every 250 ms, ${seldom} for ${wanted} at ${perSecond} a second`)
        const patient = takenBy({ ...tenants, b: { from: 5_000, isPatient: true } }, 65_000, small).get('b')!
        assert.ok(patient >= 0.7 * part, `as it was told, ${patient} for ${part} at ${perSecond} a second`)
      }
  })

  it('keeps nothing for long for who does not come back', () => {
    const small = { perSecond: 5, burst: 5 }
    const rate = newSharedRate(small, 0)
    for (let now = 0; now < 1_000; now++) takeToken(rate, 'a', now)
    while (takeToken(rate, 'gone', 1_000) === 0);
    const taken: number[] = []
    for (let now = 1_000; now < 61_000; now++) if (takeToken(rate, 'a', now) === 0) taken.push(now)
    assert.ok(taken.length >= 60 * 5 - 5, String(taken.length))
    assert.deepEqual([...rate.accounts.keys()], ['a'])
  })

  it('is never less than its part for one who asks without end, and all of it is used, whatever the others do', () => {
    const seldom = fc.record({
      from: fc.integer({ min: 0, max: 5_000 }),
      everyMs: fc.constantFrom(10, 1_000, 3_700, 9_000),
      /** Comes back so many times later than it was told, and a little. */
      patience: fc.constantFrom(0, 1, 1.5, 2),
    })
    const of = fc.record({ perSecond: fc.constantFrom(1, 2, 5, 20), burst: fc.constantFrom(1, 2, 5, 20) })
    fc.assert(
      fc.property(of, fc.array(seldom, { minLength: 1, maxLength: 8 }), (chosen, others) => {
        const [seconds, stepMs] = [60, 10]
        const rate = newSharedRate(chosen, 0)
        const nextAt = others.map(({ from }) => from)
        let [taken, takenByOthers] = [0, 0]
        for (let now = 0; now < seconds * 1_000; now += stepMs) {
          for (const [index, { everyMs, patience }] of others.entries()) {
            if (now < nextAt[index]!) continue
            const waitMs = takeToken(rate, `other ${index}`, now)
            if (waitMs === 0) takenByOthers++
            nextAt[index] = now + (patience === 0 ? everyMs : waitMs === 0 ? stepMs : patience * waitMs + 1_990)
          }
          if (takeToken(rate, 'always', now) === 0) taken++
        }
        const made = chosen.perSecond * seconds
        const part = made / (others.length + 1)
        assert.ok(taken >= part - 2, `${taken} of ${part}`)
        const kept = Math.max(chosen.burst, others.length) + 2
        assert.ok(taken + takenByOthers >= made - kept, `${taken} and ${takenByOthers} of ${made}`)
      }),
      { numRuns: 100 },
    )
  })

  it('says when to come back: when the part of the tenant makes another token', () => {
    const rate = newSharedRate({ perSecond: 2, burst: 2 }, 0)
    assert.deepEqual([takeToken(rate, 'a', 0), takeToken(rate, 'b', 0), takeToken(rate, 'a', 0)], [0, 0, 1_000])
    assert.equal(takeToken(rate, 'a', 1_000), 0)
  })

  it('never gives more than burst and rate allow, whoever asks when, and forgets who owes nothing', () => {
    const ask = fc.record({
      tenant: fc.constantFrom('a', 'b', 'c', 'd'),
      afterMs: fc.constantFrom(0, 0, 1, 7, 300, -5),
    })
    const of = fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), burst: fc.integer({ min: 1, max: 20 }) })
    fc.assert(
      fc.property(of, fc.array(ask, { maxLength: 200 }), (chosen, asks) => {
        const rate = newSharedRate(chosen, 0)
        const most = Math.max(chosen.burst, 4) + 1
        const starts: number[] = []
        let [now, latest] = [0, 0]
        for (const { tenant, afterMs } of asks) {
          now += afterMs
          latest = Math.max(latest, now)
          if (takeToken(rate, tenant, now) === 0) starts.push(latest)
          assert.ok(rate.tokens > -1e-3 && rate.tokens <= most)
        }
        for (const [index, from] of starts.entries())
          for (const [more, to] of starts.slice(index).entries())
            assert.ok(more + 1 <= most + (chosen.perSecond * (to - from)) / 1_000 + 1e-3)
        takeToken(rate, 'last', latest + 1_000_000)
        assert.deepEqual([...rate.accounts.keys()], ['last'])
      }),
      { numRuns: 200 },
    )
  })
})
