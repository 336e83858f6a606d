import assert from 'node:assert/strict'
import { it } from 'vitest'
import { sayFigure, type Row } from './row.test-kit.ts'
import { runVirtually } from './virtual-run.test-kit.ts'

/** Every bar of the row holds for every seed; one that is missed says by how much, for each of them. */
export function itKeepsItsBars(row: Row, seeds: readonly number[]): void {
  const barred = row.measures.flatMap(measure => (measure.must === undefined ? [] : { ...measure, must: measure.must }))
  const bars = barred.map(measure => `${measure.say}: ${sayFigure(measure, measure.must)} at most`)
  it(`${row.name}: ${row.title} (${bars.join('; ')})`, async () => {
    const missed: string[] = []
    for (const seed of seeds) {
      const run = await runVirtually(row, seed)
      for (const measure of barred) {
        const figure = measure.of(run)
        if (!(figure <= measure.must)) missed.push(`seed ${seed}: ${measure.say}: ${sayFigure(measure, figure)}`)
      }
    }
    assert.deepEqual(missed, [])
  })
}
