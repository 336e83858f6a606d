import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { OrderTurns, type Ordering } from './order-turns.ts'

const TENANT: Ordering = { isOperator: false, whenGone: () => {} }
const OPERATOR: Ordering = { ...TENANT, isOperator: true }

describe('orders for one record', () => {
  it('go one after the other, operators before all who wait, and one that fails keeps nobody', async () => {
    const turns = new OrderTurns()
    const done: string[] = []
    let underWay = 0
    const order = (name: string, ordering: Ordering): Promise<void> =>
      turns.take('record', ordering, async () => {
        assert.equal(++underWay, 1)
        await Promise.resolve()
        underWay--
        done.push(name)
        if (name === 'second') throw new Error('refused')
      })
    const orders = [
      order('first', TENANT),
      order('second', TENANT),
      order('third', TENANT),
      order('operator', OPERATOR),
    ]
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
    void turns.take('one', TENANT, () => never)
    assert.equal(await turns.take('other', TENANT, async () => 'done'), 'done')
  })

  it('are not begun for a caller that has hung up before its turn', async () => {
    const turns = new OrderTurns()
    const done: string[] = []
    let end = (): void => {}
    const first = turns.take('record', TENANT, () => new Promise<void>(resolve => (end = resolve)))
    let hangUp = (): void => {}
    const orders = Promise.allSettled(
      [
        { ...TENANT, whenGone: (tell: () => void) => (hangUp = tell) },
        { ...TENANT, whenGone: (tell: () => void) => tell() },
        TENANT,
      ].map((ordering, at) => turns.take('record', ordering, async () => void done.push(`order ${at}`))),
    )
    await Promise.resolve()
    hangUp()
    end()
    await first
    const words = (await orders).map(each => (each.status === 'fulfilled' ? 'done' : (each.reason as Error).message))
    const brokenOff = 'Its connection was closed before its turn came; nothing was changed.'
    assert.deepEqual(words, [brokenOff, brokenOff, 'done'])
    assert.deepEqual(done, ['order 2'])
    assert.equal(await turns.take('record', TENANT, async () => 'free'), 'free')
  })
})
