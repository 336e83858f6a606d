import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { forbids, orderFor, without } from './decide.ts'
import { KILL_LEVELS, type KillOrder } from './policy.ts'

const order = (level: KillOrder['level'], more: Partial<KillOrder> = {}): KillOrder => ({ level, reason: 'r', ...more })

const anyName: fc.Arbitrary<string | undefined> = fc.constantFrom(undefined, 'a', 'b')
const anyOrder: fc.Arbitrary<KillOrder> = fc.record({
  level: fc.constantFrom(...KILL_LEVELS),
  name: anyName,
  key: anyName,
  reason: fc.constant('r'),
  expiresAt: fc.constantFrom(undefined, 50, 100, 150),
})

describe('the order for an operation', () => {
  it('is the strictest of those that name it, its key, both, or nobody', () => {
    const orders = [
      order('hedges-off'),
      order('retries-off', { name: 'a' }),
      order('fail-fast', { name: 'a', key: 'k' }),
      order('retries-off', { key: 'l' }),
    ]
    const levels = (name: string, key?: string) => orderFor(orders, { name, key }, 0)?.level
    assert.deepEqual(
      [levels('b'), levels('a'), levels('a', 'k'), levels('b', 'k'), levels('b', 'l')],
      ['hedges-off', 'retries-off', 'fail-fast', 'hedges-off', 'retries-off'],
    )
  })

  it('may name it as its pipeline is named', () => {
    const orders = [order('fail-fast', { name: 'payments' })]
    assert.equal(orderFor(orders, { name: 'refund', client: 'payments' }, 0)?.level, 'fail-fast')
    assert.equal(orderFor(orders, { name: 'refund', client: 'ledger' }, 0), undefined)
  })

  it('is in force until the instant at which it expires', () => {
    const orders = [order('fail-fast', { expiresAt: 100 }), order('hedges-off')]
    assert.equal(orderFor(orders, { name: 'a' }, 99)?.level, 'fail-fast')
    assert.equal(orderFor(orders, { name: 'a' }, 100)?.level, 'hedges-off')
    assert.equal(orderFor([], { name: 'a' }, 100), undefined)
  })

  it('whatever was ordered, is one that covers it, holds, and has none above it', () => {
    fc.assert(
      fc.property(fc.array(anyOrder), anyName, anyName, (orders, name = 'a', key) => {
        const holding = orders.filter(
          ({ expiresAt, ...scope }) =>
            (expiresAt ?? 1e9) > 100 && [undefined, name].includes(scope.name) && [undefined, key].includes(scope.key),
        )
        const found = orderFor(orders, { name, key }, 100)
        const strictest = KILL_LEVELS.findLast(level => holding.some(other => other.level === level))
        assert.equal(found?.level, strictest)
        assert.ok(found === undefined || holding.includes(found))
      }),
    )
  })
})

describe('a level', () => {
  it('forbids nothing, retries, or everything', () => {
    const forbidden = KILL_LEVELS.map(level => [forbids(level, 0), forbids(level, 1)])
    assert.deepEqual(forbidden, [
      [false, false],
      [false, true],
      [true, true],
    ])
  })
})

describe('taking an order back', () => {
  it('takes those of exactly that scope', () => {
    const orders = [order('fail-fast'), order('fail-fast', { name: 'a' }), order('fail-fast', { name: 'a', key: 'k' })]
    assert.deepEqual(without(orders, { name: 'a' }), [orders[0], orders[2]])
    assert.deepEqual(without(orders, {}), [orders[1], orders[2]])
  })
})
