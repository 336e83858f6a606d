import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { between, holds, near } from './reproduction.ts'

describe('a finding', () => {
  it('is reproduced within its tolerance and not beyond', () => {
    const at = (ours: number): boolean => near('n', { theirs: 100, ours, within: 0.02, unit: 'ms' }).isReproduced
    assert.deepEqual([at(98), at(102), at(97.9), at(102.1), at(NaN)], [true, true, false, false, false])
  })

  it('may be asked for exactly, by an amount, in a range, or as a fact', () => {
    assert.equal(near('n', { theirs: 64, ours: 64.001, within: 0, unit: 'times' }).isReproduced, false)
    assert.equal(near('n', { theirs: 0.5, ours: 0.51, within: 0.01, of: 'amount', unit: 'share' }).isReproduced, true)
    assert.equal(between('n', { from: 0, to: 1, ours: 1.01, theirs: 0, unit: 'share' }).isReproduced, false)
    assert.equal(holds('n', { isSo: false, theirs: 'yes', ours: 'no' }).isReproduced, false)
  })
})
