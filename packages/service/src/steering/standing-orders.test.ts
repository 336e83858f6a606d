import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { StandingOrders } from './standing-orders.ts'

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
})
