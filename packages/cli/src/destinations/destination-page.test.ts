import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sayHold } from './destination-page.ts'

const NOW = 1_767_300_000_000

describe('what holds a destination', () => {
  it('is said with its end and its reason, as far as they are known', () => {
    const paused = { reason: 'paused', until: NOW + 1_500_000, because: 'INC-2231' } as const
    assert.equal(sayHold(paused, NOW), 'paused, for another 25 min: INC-2231')
    assert.equal(sayHold({ reason: 'breaker-open' }, NOW), 'breaker-open')
  })

  it('on its way back is when it is given more, and no wait until then', () => {
    assert.equal(sayHold({ reason: 'slow-start', until: NOW + 45_000 }, NOW), 'slow-start, one more at once in 45 s')
  })
})
