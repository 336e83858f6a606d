import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { near } from './near.test-kit.ts'
import { blockedShare, closedQueue, erlangB, erlangC, md1, meanOrbit, mg1, mm1, mm1QuantileMs, mmc } from './queues.ts'

/** A service time of one second, so that λ is ρ and times are in units of S. */
const busy = (utilisation: number): { arrivalsPerSecond: number; serviceMs: number } => ({
  arrivalsPerSecond: utilisation,
  serviceMs: 1_000,
})

const anyUtilisation = fc.double({ min: 0.01, max: 0.99, noNaN: true })

describe('M/M/1', () => {
  it.each([
    [0.5, 1],
    [0.9, 9],
    [0.99, 99],
  ])('waits ρ / (1 − ρ) service times: at %d it is %d', (utilisation, waits) => {
    assert.ok(...near(mm1(busy(utilisation))?.waitMs, waits * 1_000, 1e-6))
  })

  it('answers in 5 service times at 0.8, and 99 % within 23.026', () => {
    assert.ok(...near(mm1(busy(0.8))?.timeMs, 5_000))
    assert.ok(...near(mm1QuantileMs(busy(0.8), 0.99), 23_025.850_93, 1e-4))
  })

  it('takes 3.3 times as long when 30 % of retries lift 0.7 to 0.91', () => {
    assert.ok(...near(mm1(busy(0.91))!.timeMs / mm1(busy(0.7))!.timeMs, 3.333, 1e-3))
  })

  it('has no steady state from ρ = 1 on, nor has any other open queue', () => {
    for (const utilisation of [1, 1.2, Infinity, NaN]) {
      assert.equal(mm1(busy(utilisation)), undefined)
      assert.equal(md1(busy(utilisation)), undefined)
      assert.equal(mmc({ ...busy(utilisation), servers: 1 }), undefined)
      assert.equal(mm1QuantileMs(busy(utilisation), 0.5), undefined)
      assert.equal(meanOrbit({ ...busy(utilisation), retryMs: 1 }), undefined)
    }
  })

  it('is Little’s: who is there is rate times time', () => {
    fc.assert(
      fc.property(anyUtilisation, fc.double({ min: 1, max: 1e4, noNaN: true }), (utilisation, serviceMs) => {
        const arrivalsPerSecond = (1_000 * utilisation) / serviceMs
        const queue = mm1({ arrivalsPerSecond, serviceMs })!
        assert.ok(...near(queue.present, (arrivalsPerSecond * queue.timeMs) / 1_000, 1e-9 * queue.present))
        assert.ok(...near(queue.present - queue.waiting, queue.utilisation, 1e-9 * queue.present))
        assert.ok(...near(queue.present, utilisation / (1 - utilisation), 1e-6 * queue.present))
      }),
    )
  })
})

describe('M/D/1 and M/G/1', () => {
  it.each([
    [0.8, 2],
    [0.9, 4.5],
  ])('constant service halves the wait: at %d it is %d service times', (utilisation, waits) => {
    assert.ok(...near(md1(busy(utilisation))?.waitMs, waits * 1_000))
    assert.ok(...near(mm1(busy(utilisation))!.waitMs / md1(busy(utilisation))!.waitMs, 2))
  })

  it('gives the mean of a bimodal service that was published: 4.113 s', () => {
    // 99.9 % Exp(0.1 s), 0.1 % Exp(10 s), ρ = 0.8; the second moment of Exp(m) is 2m².
    const mean = 0.999 * 0.1 + 0.001 * 10
    const secondMoment = 0.999 * 2 * 0.1 ** 2 + 0.001 * 2 * 10 ** 2
    const variation = secondMoment / mean ** 2 - 1
    assert.ok(...near(mg1({ arrivalsPerSecond: 0.8 / mean, serviceMs: mean * 1_000, variation })?.timeMs, 4_113, 1))
  })
})

describe('M/M/c', () => {
  it.each([
    [2, 0.8, 0.711_111, 1.777_778],
    [10, 0.8, 0.409_18, 0.204_59],
    [10, 0.9, 0.668_732, 0.668_732],
    [100, 0.95, 0.506_457, 0.101_291],
  ])('of %d servers at %d makes %d of the calls wait, %d service times on average', (servers, rho, mustWait, waits) => {
    assert.ok(...near(erlangC({ servers, work: servers * rho }), mustWait))
    assert.ok(...near(mmc({ ...busy(servers * rho), servers })?.waitMs, waits * 1_000, 1e-3))
    assert.ok(...near(mmc({ ...busy(servers * rho), servers })?.utilisation, rho))
  })

  it('with one server is M/M/1', () => {
    fc.assert(
      fc.property(anyUtilisation, utilisation => {
        const [many, one] = [mmc({ ...busy(utilisation), servers: 1 })!, mm1(busy(utilisation))!]
        for (const field of ['waitMs', 'timeMs', 'waiting', 'present', 'utilisation'] as const)
          assert.ok(...near(many[field], one[field], 1e-9 * one[field]))
      }),
    )
  })

  it('waits less with every server more, and stays finite for thousands', () => {
    const waits = [9, 10, 20, 40].map(servers => mmc({ ...busy(8), servers })!.waitMs)
    assert.deepEqual(
      waits,
      waits.toSorted((left, right) => right - left),
    )
    assert.ok(Number.isFinite(mmc({ ...busy(4_900), servers: 5_000 })!.waitMs))
  })

  it('turns 12.1661 % away with ten servers, work for eight and no room to wait', () => {
    assert.ok(...near(erlangB({ servers: 10, work: 8 }), 0.121_661))
  })
})

describe('a queue with K places', () => {
  it.each([
    [0.8, 0.023_493],
    [1.2, 0.192_586],
    [1, 1 / 11],
  ])('of ten at ρ %d turns away %d', (utilisation, share) => {
    assert.ok(...near(blockedShare({ ...busy(utilisation), places: 10 }), share))
  })

  it('turns away what is too much when far over capacity, without overflow', () => {
    assert.ok(...near(blockedShare({ ...busy(4), places: 10_000 }), 0.75))
  })

  it('changes smoothly around ρ = 1', () => {
    assert.ok(...near(blockedShare({ ...busy(1 - 1e-9), places: 10 }), 1 / 11))
    assert.ok(...near(blockedShare({ ...busy(1 + 1e-9), places: 10 }), 1 / 11))
  })
})

describe('serial clients', () => {
  it('reach a published utilisation: ten at 0.7210 and 0.2420 s, one at 0.8333', () => {
    const thinkMs = (clients: number): number => (1 - 0.8) * 100 + ((clients - 1) * 100) / 0.8
    const ten = closedQueue({ clients: 10, serviceMs: 100, thinkMs: thinkMs(10) })
    assert.ok(...near(ten.timeMs, 242, 0.1))
    assert.ok(...near(ten.utilisation, 0.721, 1e-4))
    assert.ok(...near(closedQueue({ clients: 1, serviceMs: 100, thinkMs: thinkMs(1) }).utilisation, 1 / 1.2))
  })

  it('never ask for more than there is, however many they are', () => {
    const crowd = closedQueue({ clients: 10_000, serviceMs: 10, thinkMs: 1_000 })
    assert.ok(...near(crowd.callsPerSecond, 100))
    assert.ok(...near(crowd.utilisation, 1))
  })

  it('that are many and think long are an open queue', () => {
    const clients = 100_000
    const open = mm1({ arrivalsPerSecond: 50, serviceMs: 10 })!
    assert.ok(
      ...near(closedQueue({ clients, serviceMs: 10, thinkMs: (1_000 * clients) / 50 }).timeMs, open.timeMs, 0.01),
    )
  })
})

describe('those who come back for ever', () => {
  it('are as many as wait in M/M/1 when they come back at once, and twice as many after a service time', () => {
    assert.ok(...near(meanOrbit({ ...busy(0.8), retryMs: 0 }), mm1(busy(0.8))!.waiting))
    assert.ok(...near(meanOrbit({ ...busy(0.8), retryMs: 1_000 }), 2 * mm1(busy(0.8))!.waiting))
  })
})
