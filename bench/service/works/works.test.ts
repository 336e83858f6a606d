import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tablesOf, verdictTable } from '../../report.ts'
import { judge, type Lap } from '../../verdict.ts'
import { WORKS } from './index.ts'

/** Every contender of every work, three runs of one round, with figures as long as they can get. */
const laps: Lap[] = WORKS.flatMap(work =>
  [1, 2, 3].flatMap(run =>
    work.contenders.map(contender => ({
      run,
      round: 1,
      workId: work.id,
      contender,
      figures: Object.fromEntries(work.figures.map(({ key }) => [key, 123_456.789])),
    })),
  ),
)

it('fits every table and every bar into 100 columns', () => {
  const tables = WORKS.map(work => tablesOf(work, laps, 1))
  const bars = verdictTable(WORKS.flatMap(work => judge(work, laps, 3)))
  const lines = [...tables, bars].join('\n').split('\n')
  assert.deepEqual(
    lines.filter(line => line.length > 100),
    [],
  )
})

describe('a bar', () => {
  for (const { id, bars, figures, contenders } of WORKS)
    it(`of ${id} is about a figure that is measured, and against somebody who takes part`, () => {
      for (const { figure, times = 'secondwind' } of bars) {
        assert.ok(
          figures.some(({ key }) => key === figure),
          figure,
        )
        assert.ok(contenders.includes(times), times)
      }
    })
})
