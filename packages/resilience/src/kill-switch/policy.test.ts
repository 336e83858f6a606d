import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkKillOrder, checkKillScope, completeOrder } from './policy.ts'

const say = (input: unknown): string[] => checkKillOrder(input).map(({ at, say }) => `${at} ${say}`)

describe('an order to a kill switch', () => {
  it('needs a level and a reason, and nothing else', () => {
    assert.deepEqual(say({ level: 'fail-fast', reason: 'on fire' }), [])
    assert.deepEqual(say({}), [
      'level must be one of hedges-off, retries-off, fail-fast',
      'reason must be a text of 1 to 1000 characters',
    ])
    assert.deepEqual(say('off'), [' must be an object with level and reason'])
  })

  it('says what is wrong with each field, all at once', () => {
    const order = { level: 'off', reason: '', name: '', key: 7, expiresAt: NaN, forMs: 0.5, until: 5 }
    assert.deepEqual(
      checkKillOrder(order).map(({ at }) => at),
      ['level', 'reason', 'name', 'key', 'expiresAt', 'forMs', 'until', 'forMs'],
    )
    assert.match(say(order)[6]!, /did you mean expiresAt/)
  })

  it('ends at an instant or after a time, not both', () => {
    const order = { level: 'fail-fast', reason: 'on fire' } as const
    assert.deepEqual(say({ ...order, expiresAt: 1, forMs: 1 }), ['forMs must not stand beside expiresAt: one of them'])
    assert.deepEqual(completeOrder({ ...order, forMs: 5, key: undefined }, 100), { ...order, expiresAt: 105 })
    assert.deepEqual(completeOrder({ ...order, expiresAt: 7 }, 100), { ...order, expiresAt: 7 })
  })
})

describe('a scope', () => {
  it('is a name, a key, both or neither, and no slip of the keyboard', () => {
    for (const scope of [{}, { name: 'a' }, { key: 'b' }, { name: 'a', key: 'b' }])
      assert.deepEqual(checkKillScope(scope), [])
    assert.match(checkKillScope({ nmae: 'a' })[0]!.say, /did you mean name/)
    assert.match(checkKillScope('everything')[0]!.say, /'all'/)
  })
})
