import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sayGate, sayHold, sayPerKind } from './say-gates.ts'

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

  it('while it does not answer is since when, how often it is asked, and when next', () => {
    const open = { reason: 'breaker-open', since: NOW - 180_000, everyMs: 9_000, until: NOW + 4_000 } as const
    assert.equal(sayHold(open, NOW), 'breaker-open, only failures for 3 min, a probe every 9 s, the next in 4 s')
    assert.equal(
      sayHold({ reason: 'credit', everyMs: 1_000, until: NOW - 1 }, NOW),
      'credit, a probe every 1 s, the next now',
    )
  })

  it('is named for the kinds of attempts that it holds, and for none where it holds all', () => {
    const open = { reason: 'breaker-open' } as const
    const budget = { reason: 'budget' } as const
    assert.equal(sayGate({ hold: { reason: 'paused' }, kindHolds: { late: open } }), 'paused')
    assert.equal(sayGate({ kindHolds: { first: open, retry: open, late: open } }), 'breaker-open')
    assert.equal(
      sayGate({ kindHolds: { first: open, retry: budget, late: budget } }),
      'breaker-open (first), budget (retry, late)',
    )
    assert.equal(sayGate({}), '')
  })
})

describe('credit', () => {
  it('is said for each kind of attempt that has one', () => {
    assert.equal(sayPerKind({ first: 20, retry: 60, late: 0 }), 'first 20 · retry 60 · late 0')
    assert.equal(sayPerKind({ retry: 10 }), 'retry 10')
  })
})
