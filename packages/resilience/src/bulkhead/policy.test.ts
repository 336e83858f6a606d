import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkBulkhead, DEFAULT_BULKHEAD, withBulkheadDefaults } from './policy.ts'

const say = (input: unknown): string[] => checkBulkhead(input, 'bulkhead').map(({ at, say }) => `${at} ${say}`)

describe('a bulkhead', () => {
  it('is right as it stands', () => {
    assert.deepEqual(say(DEFAULT_BULKHEAD), [])
    assert.deepEqual(withBulkheadDefaults({}), DEFAULT_BULKHEAD)
    assert.deepEqual(say(withBulkheadDefaults({ maxQueued: 0 })), [])
  })

  it('has a queue half as long as its limit, unless told', () => {
    assert.equal(withBulkheadDefaults({ limit: 5 }).maxQueued, 3)
    assert.equal(withBulkheadDefaults({ limit: 1 }).maxQueued, 1)
    assert.equal(withBulkheadDefaults({ limit: 5, maxQueued: 0 }).maxQueued, 0)
  })

  it('does not take a wait for a queue that does not exist', () => {
    assert.deepEqual(say({ maxQueued: 0 }), [])
    assert.deepEqual(say({ maxQueued: 0, maxWaitMs: 10 }), [
      'bulkhead.maxWaitMs has no effect: with maxQueued 0 nobody waits',
    ])
  })

  it('says what is wrong with each field, and what others call it', () => {
    const [limit, word] = say({ limit: 0.5, queue: 3 })
    assert.match(limit!, /^bulkhead\.limit must be a whole number/)
    assert.match(word!, /^bulkhead\.queue .*maxQueued/)
    assert.deepEqual(say(3), ['bulkhead must be an object with the fields of a bulkhead; {} has its defaults'])
  })
})
