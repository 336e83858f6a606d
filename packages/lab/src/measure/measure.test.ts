import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runSmall } from '../run-scenario.test-kit.ts'
import { readingOf } from '../trial/reading.ts'
import { largest, sum } from './totals.ts'

describe('measures', () => {
  it('are taken of more steps than a function takes arguments', () => {
    const { result, server } = runSmall({ durationMs: 10_000, more: { stepMs: 0.05 } })
    assert.ok(server.perStep.first.length > 190_000)
    assert.equal(server.peakPerSecond, 20_000)
    assert.ok(readingOf(result).peakTimes >= 1)
  })

  it('are nothing of nothing', () => {
    assert.deepEqual([largest([]), sum([])], [0, 0])
    const { clients } = runSmall({ group: { arrivals: { kind: 'constant', perSecond: 0 } } })
    assert.deepEqual([clients.operations, clients.unended, clients.successShare], [0, 0, 0])
  })
})
