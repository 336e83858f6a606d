import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { lanesWithin } from './heap.ts'

const MIB = 1_048_576

describe('lanes that are open at once', () => {
  it('have a quarter of the heap together, at four kilobytes each', () => {
    assert.equal(lanesWithin(512 * MIB), 32_768)
    assert.equal(lanesWithin(256 * MIB), 16_384)
  })

  it('are 100 000 at the most, however large the heap is', () => {
    assert.equal(lanesWithin(4_096 * MIB), 100_000)
  })
})
