import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { StoredRecord } from '../stores/store.ts'
import { laneKey } from '../task/lane.ts'
import { isSameConcern, StandingOrders } from './standing-orders.ts'

/** Orders over a store that answers a reading when it is told to. */
function slowReading() {
  const readings: (() => void)[] = []
  const orders = new StandingOrders({
    store: {
      async records({ kind }) {
        if (kind === 'control') await new Promise<void>(resolve => readings.push(resolve))
        return { items: [] }
      },
    },
    read: async call => ({ value: await call() }),
  })
  const endOne = async (): Promise<void> => {
    readings.shift()!()
    await settled()
  }
  const settled = async (): Promise<void> => {
    for (let turns = 0; turns < 30; turns++) await Promise.resolve()
  }
  return { orders, readings, endOne, settled }
}

describe('standing orders', () => {
  it('are read once more for all who wrote while they were being read', async () => {
    const { orders, readings, endOne, settled } = slowReading()
    const first = orders.refresh()
    await settled()
    const others = Array.from({ length: 100 }, () => orders.refresh())
    await endOne()
    assert.equal(await first, true)
    await endOne()
    assert.deepEqual(new Set(await Promise.all(others)), new Set([true]))
    assert.equal(readings.length, 0)
  })

  it('are known up to a version that was named while somebody else had them read, without another beat', async () => {
    const { orders, readings, endOne, settled } = slowReading()
    void orders.refresh()
    await settled()
    const known = orders.upTo(7)
    // Orders go on coming in: whoever named a version waits for the next reading, and for no other.
    for (let order = 0; order < 2; order++) {
      await endOne()
      void orders.refresh()
      await settled()
    }
    assert.equal(await known, true)
    assert.equal(await orders.upTo(7), true)
    assert.equal(readings.length, 1)
  })

  it('can be read again after a reading that failed', async () => {
    let isAway = true
    const orders = new StandingOrders({
      store: {
        async records() {
          if (isAway) throw new Error('the store is away')
          return { items: [] }
        },
      },
      read: async call => ({ value: await call() }),
    })
    await assert.rejects(orders.refresh(), /the store is away/)
    isAway = false
    assert.equal(await orders.refresh(), true)
  })

  it('concern a lane anew when something was written for it, and leave all others as they are', async () => {
    const { orders, write } = written()
    const [mine, next, others] = [laneOf('acme', 'a'), laneOf('acme', 'b'), laneOf('beta', 'a')]
    const changedBy = async (...record: Parameters<typeof write>): Promise<boolean[]> => {
      const lanes = [mine, next, others]
      const before = lanes.map(lane => orders.concerning(lane))
      write(...record)
      await orders.refresh()
      return lanes.map((lane, at) => !isSameConcern(before[at]!, orders.concerning(lane)))
    }
    await orders.refresh()
    assert.deepEqual(await changedBy('destination', mine, 1, 10), [true, false, false])
    assert.deepEqual(await changedBy('destination', mine, 2, 20), [true, false, false])
    assert.deepEqual(await changedBy('destination', laneOf('*', 'a'), 1, 30), [true, false, true])
    assert.deepEqual(await changedBy('control', 'one', 1, 40), [true, true, false])
    assert.deepEqual(await changedBy('control', 'one', 1, 40), [false, false, false])
    // Removed, and made anew: its versions begin again.
    assert.deepEqual(await changedBy('destination', laneOf('*', 'a'), 1, 50), [true, false, true])
  })
})

function laneOf(tenant: string, destination: string): string {
  return laneKey({ tenant, destination: `http://${destination}` })
}

/** Orders over records that are written by hand; every control is for all of one tenant. */
function written() {
  const records = new Map<string, StoredRecord>()
  const orders = new StandingOrders({
    store: { records: async ({ kind }) => ({ items: [...records.values()].filter(record => record.kind === kind) }) },
    read: async call => ({ value: await call() }),
  })
  const write = (kind: 'control' | 'destination', id: string, version: number, changedAt: number): void => {
    const document = kind === 'control' ? { scope: { kind: 'tenant', tenant: 'acme' }, level: 'dispatch-off' } : {}
    records.set(id, { kind, id, tenant: '*', version, document, createdAt: 0, changedAt })
  }
  return { orders, write }
}
