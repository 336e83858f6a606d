import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { LooseRows } from './loose-rows.ts'

const anyStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('add' as const), seq: fc.integer({ min: 1, max: 3_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('skip' as const), count: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('file' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
)

describe('loose rows', () => {
  it('are found by their tasks, the newest first, until they are removed or filed', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 200 }), steps => {
        const loose = new LooseRows()
        const model = new Map<number, number>()
        let last = 0
        for (const step of steps) {
          if (step.kind === 'skip') last += step.count
          else if (step.kind === 'add') {
            loose.add(++last, step.seq)
            model.set(last, step.seq)
          } else {
            const logId = loose.filedUpTo + Math.round(step.share * (last - loose.filedUpTo))
            if (step.kind === 'file') loose.file(logId)
            else loose.remove(logId)
            for (const known of model.keys())
              if (step.kind === 'file' ? known <= logId : known === logId) model.delete(known)
          }
        }
        for (const seq of new Set([...model.values(), 1])) {
          const rows = [...model].filter(([, whose]) => whose === seq).map(([logId]) => logId)
          assert.deepEqual(loose.of(seq), rows.toReversed())
          assert.equal(loose.newestOf(seq), rows.at(-1))
          for (const logId of rows) assert.equal(loose.taskOf(logId), seq)
        }
      }),
    )
  })

  it('have as much room as they need', () => {
    const loose = new LooseRows()
    for (let logId = 1; logId <= 10_000; logId++) loose.add(logId, logId % 5_000 || 5_000)
    assert.deepEqual(loose.of(1_234), [6_234, 1_234])
    for (const times of [1, 2]) {
      loose.file(6_000)
      assert.deepEqual(loose.of(1_234), [6_234], `${times}`)
    }
    assert.equal(loose.newestOf(1_000), undefined)
  })
})
