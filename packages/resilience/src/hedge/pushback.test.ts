import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { readPushback } from './pushback.ts'

describe('a pushback', () => {
  it('that is not there says nothing', () => assert.equal(readPushback(undefined), undefined))

  it('of a number is that wait, exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), ms =>
        assert.deepEqual(readPushback(String(ms)), { kind: 'wait', ms }),
      ),
    )
  })

  it('that is negative, or no number that it could be, means stop', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer({ max: -1 }).map(String)), value => {
        fc.pre(String(Number.parseInt(value, 10)) !== value || value.startsWith('-'))
        assert.deepEqual(readPushback(value), { kind: 'stop' })
      }),
    )
    for (const value of [
      '',
      '-0',
      '+5',
      '05',
      '1.5',
      '1e3',
      ' 5',
      '5 ',
      '5,5',
      '0x5',
      'soon',
      '2147483648',
      '9'.repeat(400),
    ])
      assert.deepEqual(readPushback(value), { kind: 'stop' }, value)
  })
})
