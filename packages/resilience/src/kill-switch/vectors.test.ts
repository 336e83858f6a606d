import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { forbids, orderFor, type Named } from './decide.ts'
import { checkKillOrder, type KillLevel, type KillOrder } from './policy.ts'

interface Case {
  readonly name: string
  readonly orders: readonly Omit<KillOrder, 'reason'>[]
  readonly operation: Named
  readonly at: number
  readonly level: KillLevel | null
  readonly first: boolean
  readonly retry: boolean
}

describe('vectors/kill-switch.json', () => {
  const url = new URL('../../../../vectors/kill-switch.json', import.meta.url)
  const vectors = JSON.parse(readFileSync(url, 'utf8')) as { readonly about: string; readonly cases: readonly Case[] }
  const { about: _, cases, ...rest } = vectors

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, orders: given, operation, at, level, first, retry, ...rest } of cases)
    it(name, () => {
      assert.deepEqual(rest, {})
      const orders = given.map(order => ({ ...order, reason: 'a vector' }))
      assert.deepEqual(orders.flatMap(checkKillOrder), [])
      const found = orderFor(orders, operation, at)?.level
      assert.equal(found ?? null, level)
      const begins = (attempts: number): boolean => found === undefined || !forbids(found, attempts)
      assert.deepEqual([begins(0), begins(1)], [first, retry])
    })
})
