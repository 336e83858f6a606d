import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createStewards } from './stewards.ts'

describe('a register of instances', () => {
  it('forgets whoever has not beaten for an hour, and keeps the others', () => {
    const stewards = createStewards()
    stewards.beat('gone', 0)
    stewards.beat('here', 1_800_000)
    assert.equal(stewards.beat('here', 3_600_000).beats.length, 2)
    assert.deepEqual(stewards.beat('here', 3_600_001).beats, [{ instance: 'here', count: 3 }])
    assert.deepEqual(stewards.beat('gone', 3_600_001).beats.at(-1), { instance: 'gone', count: 1 })
  })

  it('leaves a partition with its steward though it was forgotten: another must take it', () => {
    const stewards = createStewards()
    stewards.beat('gone', 0)
    stewards.take({ partition: 7, instance: 'gone', token: 'a', from: null })
    const { stewards: present } = stewards.beat('here', 9_000_000)
    assert.deepEqual(present, [{ partition: 7, instance: 'gone', token: 'a' }])
    assert.equal(stewards.take({ partition: 7, instance: 'here', token: 'b', from: 'a' }), true)
    assert.deepEqual(
      [stewards.isSteward(7, 'a'), stewards.isSteward(7, 'b'), stewards.isSteward(8, 'b')],
      [false, true, false],
    )
  })
})
