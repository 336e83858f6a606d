import assert from 'node:assert/strict'
import { it } from 'node:test'
import { digits, tablesOf, verdictTable } from './report.ts'
import { judge, type Lap } from './verdict.ts'
import { WORKS } from './works/index.ts'

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

it('fits every table into 100 columns', () => {
  const text = WORKS.map(work => tablesOf(work, laps, 1)).join('\n')
  assert.deepEqual(tooWide(text), [])
})

it('fits every bar into 100 columns', () => {
  const text = verdictTable(WORKS.flatMap(work => judge(work, laps, 3)))
  assert.deepEqual(tooWide(text), [])
})

it('marks the runs that missed a bar', () => {
  const engine = WORKS.find(({ id }) => id === 'E')
  const [atLeast, below] = verdictTable(judge(engine!, laps, 1)).split('\n')
  assert.match(atLeast!, /successes per second ≥ 500 +held +123,457 \(123,457\.\.123,457\)$/)
  assert.match(below!, /p99 of a success, ms < 25 +missed +123,457 \(123,457\.\.123,457\) !$/)
})

it('says so when the laps of the yardstick themselves lie far apart', () => {
  const work = WORKS.find(({ id }) => id === 'A')!
  const loopLaps = (...values: number[]): Lap[] =>
    values.map((nsPerCall, n) => ({ run: 1, round: n + 1, workId: 'A', contender: 'loop', figures: { nsPerCall } }))
  assert.match(tablesOf(work, loopLaps(100, 151), 1), /busy machine: the laps of loop differ by 1\.51 ×/)
  assert.doesNotMatch(tablesOf(work, loopLaps(100, 150), 1), /busy machine/)
})

it('shows three digits that count', () => {
  assert.deepEqual([0.876, 9.994, 12.34, 123.4, 12_345.6].map(digits), ['0.88', '9.99', '12.3', '123', '12,346'])
})

function tooWide(text: string): string[] {
  return text.split('\n').filter(line => line.length > 100)
}
