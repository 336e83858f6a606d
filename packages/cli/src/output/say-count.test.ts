import assert from 'node:assert/strict'
import { it } from 'vitest'
import { sayCount } from './say-count.ts'

it('one is not said in the plural, and many are read in thousands', () => {
  assert.deepEqual(
    [0, 1, 2, 1_200].map(count => sayCount(count, 'attempt')),
    ['0 attempts', '1 attempt', '2 attempts', '1,200 attempts'],
  )
})
