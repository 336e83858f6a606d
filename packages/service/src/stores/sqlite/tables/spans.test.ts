import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { openFile } from '../file/file.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { createSpans } from './spans.ts'

describe('the span of a block', () => {
  it('holds all of its instants, and is written again only for one of another second', () => {
    const { connection, close } = openFile({ directory: temporaryDirectory() })
    onTestFinished(close)
    const spans = createSpans(connection)
    const changes = connection.row<[number]>('select total_changes()')
    const writes = (note: () => void): number => {
      const [before] = changes()!
      note()
      spans.flush()
      return changes()![0] - before
    }
    assert.deepEqual(
      [
        writes(() => spans.widen(1, 5_500)),
        writes(() => spans.widen(2, 5_001)),
        writes(() => spans.widen(3, 6_000)),
        writes(() => spans.widen(4, 6_001)),
        writes(() => spans.widen(5, 4_999)),
        writes(() => spans.noteDeath(1, 7_300)),
        writes(() => spans.noteDeath(2, 7_900)),
        writes(() => spans.noteDeath(3, 8_100)),
      ],
      [1, 0, 0, 1, 1, 1, 0, 1],
    )
    const span = connection.rows('select oldest_at, newest_at, first_death_at, last_death_at from span')
    assert.deepEqual(span(), [[4_000, 7_000, 7_000, 9_000]])
  })
})
