import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { nearPolicies } from './near-policies.ts'

describe('policies that somebody may have meant', () => {
  it('are read once for a request, and looked for among them for a few names only', async () => {
    let [reads, looks] = [0, 0]
    const counted = Object.assign(['payments'], {
      *[Symbol.iterator]() {
        looks++
        yield 'payments'
      },
    })
    const near = nearPolicies({ names: async () => (reads++, counted) }, 'default')
    const hints: string[] = []
    for (let n = 0; n < 100; n++) hints.push(await near(`payments${n}`))
    assert.deepEqual([reads, looks], [1, 10])
    assert.deepEqual(new Set(hints.slice(0, 10)), new Set(['; did you mean payments?']))
    assert.deepEqual(new Set(hints.slice(10)), new Set(['']))
  })

  it('are told wherever the same name stands', async () => {
    const near = nearPolicies({ names: async () => ['payments'] }, 'default')
    for (let n = 0; n < 1_000; n++) assert.equal(await near('paymnets'), '; did you mean payments?')
  })
})
