import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isAlike, nearest } from './nearest.ts'

describe('what was perhaps meant', () => {
  it('is the known word with the fewest letters to change', () => {
    assert.equal(nearest('paymnets', ['payment', 'payments', 'ledger']), 'payments')
    assert.equal(nearest('stop', ['pots', 'stop-it', 'step']), 'step')
  })

  it('is, of a short list, also a word with another ending', () => {
    const levels = ['retries-off', 'dispatch-off', 'intake-off']
    assert.equal(nearest('retry-off', levels, isAlike), 'retries-off')
    assert.equal(nearest('dispatching-off', levels, isAlike), 'dispatch-off')
    assert.equal(nearest('reads-off', levels, isAlike), undefined)
    assert.equal(nearest('off', levels, isAlike), undefined)
  })

  it('is nothing where no word is near, and where nobody could have meant a word by it', () => {
    assert.equal(nearest('payments', ['ledger', 'search']), undefined)
    assert.equal(nearest('a'.repeat(1_000_000), ['a']), undefined)
    assert.equal(nearest('', ['a']), undefined)
  })
})
