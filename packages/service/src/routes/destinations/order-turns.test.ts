import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { OrderTurns } from './order-turns.ts'

describe('orders for one record', () => {
  it('go one after the other, operators before all who wait, and one that fails keeps nobody', async () => {
    const turns = new OrderTurns()
    const done: string[] = []
    let underWay = 0
    const order = (name: string, isOperator: boolean): Promise<void> =>
      turns.take('record', isOperator, async () => {
        assert.equal(++underWay, 1)
        await Promise.resolve()
        underWay--
        done.push(name)
        if (name === 'second') throw new Error('refused')
      })
    const orders = [order('first', false), order('second', false), order('third', false), order('operator', true)]
    const ends = await Promise.allSettled(orders)
    assert.deepEqual(done, ['first', 'operator', 'second', 'third'])
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
  })

  it('wait for no order for another record', async () => {
    const turns = new OrderTurns()
    const never = new Promise<void>(() => undefined)
    void turns.take('one', false, () => never)
    assert.equal(await turns.take('other', false, async () => 'done'), 'done')
  })
})
