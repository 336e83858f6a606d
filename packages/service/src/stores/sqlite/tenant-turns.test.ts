import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { TenantTurns } from './commit-queue.ts'

interface Named {
  readonly name: string
  readonly rows: number
}

function turnsOf(...calls: readonly (readonly [tenant: string, name: string, rows?: number])[]) {
  const turns = new TenantTurns<Named>()
  for (const [tenant, name, rows = 1] of calls) turns.add(tenant, { name, rows })
  return (most: { calls?: number; rows?: number } = {}): string[] =>
    turns.take({ calls: 100, rows: 100, ...most }).map(({ name }) => name)
}

describe('calls of tenants', () => {
  it('go in turns: one of each, then the next of each, those of one tenant as they came', () => {
    const take = turnsOf(['a', 'a1'], ['a', 'a2'], ['a', 'a3'], ['b', 'b1'], ['c', 'c1'], ['b', 'b2'])
    assert.deepEqual(take(), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
    assert.deepEqual(take(), [])
  })

  it('go on with the tenant whose turn it is where the last ones stopped', () => {
    const take = turnsOf(['a', 'a1'], ['a', 'a2'], ['b', 'b1'])
    assert.deepEqual([take({ calls: 1 }), take({ calls: 1 }), take({ calls: 1 })], [['a1'], ['b1'], ['a2']])
  })

  it('go together as long as their rows fit, and one that is larger than all that fits goes alone', () => {
    const take = turnsOf(['a', 'a1', 60], ['b', 'b1', 40], ['c', 'c1', 1], ['d', 'd1', 500], ['e', 'e1', 1])
    assert.deepEqual([take(), take(), take(), take()], [['a1', 'b1'], ['c1'], ['d1'], ['e1']])
  })

  it('of a tenant that was gone for a while stand behind those who wait', () => {
    const turns = new TenantTurns<Named>()
    const take = (): string => turns.take({ calls: 1, rows: 1 })[0]!.name
    for (const name of ['b1', 'b2']) turns.add('b', { name, rows: 1 })
    assert.equal(take(), 'b1')
    turns.add('a', { name: 'a1', rows: 1 })
    assert.deepEqual([take(), take()], ['b2', 'a1'])
    turns.add('b', { name: 'b3', rows: 1 })
    assert.equal(take(), 'b3')
  })
})
