import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { readTally, tallyLine } from './tally.ts'

describe('the tally of a step', () => {
  it('is one for a step that counts nothing', () => {
    assert.deepEqual(readTally('all fine\n', 0), { passed: 1, failed: 0 })
    assert.deepEqual(readTally('oh no\n', 2), { passed: 0, failed: 1 })
  })

  it('is the last line of counts', () => {
    const output = 'a test said:\n1 passed, 0 failed\nsummary\n12 passed, 3 failed\n'
    assert.deepEqual(readTally(output, 1), { passed: 12, failed: 3 })
  })

  it('never hides a failed step behind passed tests', () => {
    assert.deepEqual(readTally('12 passed, 0 failed\n', 1), { passed: 12, failed: 1 })
  })

  it('reads back what it writes', () => {
    assert.deepEqual(readTally(tallyLine({ passed: 7, failed: 0 }), 0), { passed: 7, failed: 0 })
  })
})
