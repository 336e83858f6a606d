import type { CapturedResponse } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { answerCell } from './answers.ts'

const said = (body: string, truncated = false): CapturedResponse => ({
  headers: {},
  body,
  bodyEncoding: 'utf8',
  truncated,
})

describe('what a target said', () => {
  it('is shown as it is where it is short, in one line', () => {
    assert.deepEqual(answerCell(said('no\n  room ')), { value: 'no room', say: 'no room' })
  })

  it('ends with … where it was cut: by the cell, by the line, or by the service that kept its beginning', () => {
    const { value, say } = answerCell(said('x'.repeat(400)))
    assert.deepEqual([String(value).length, String(value).at(-1)], [300, '…'])
    assert.deepEqual([say.length, say.at(-1)], [40, '…'])
    assert.equal(answerCell(said('half of', true)).say, 'half of…')
    assert.equal(answerCell(said('x'.repeat(300))).value, 'x'.repeat(300))
  })
})
