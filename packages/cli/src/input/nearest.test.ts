import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { nearest } from './nearest.ts'

describe('what was perhaps meant', () => {
  it('is the known word with the fewest letters to change', () => {
    assert.equal(nearest('paymnets', ['payment', 'payments', 'ledger']), 'payments')
    assert.equal(nearest('stop', ['pots', 'stop-it', 'step']), 'step')
  })

  it('is nothing where no word is near, and where nobody could have meant a word by it', () => {
    assert.equal(nearest('payments', ['ledger', 'search']), undefined)
    assert.equal(nearest('a'.repeat(1_000_000), ['a']), undefined)
    assert.equal(nearest('', ['a']), undefined)
  })
})
