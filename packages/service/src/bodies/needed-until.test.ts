import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_RETENTION } from '../upkeep/retention.ts'
import { neededAfterUpload, neededForDeadLetter, neededForTask } from './needed-until.ts'

const DAY_MS = 86_400_000
const NOW = 1_700_000_000_000

describe('a large body', () => {
  it('is kept for a day after its upload', () => {
    assert.equal(neededAfterUpload(NOW), NOW + DAY_MS)
  })

  it('is kept as long as a task that ended at its deadline is shown', () => {
    const task = { expiresAt: NOW + 3 * DAY_MS }
    assert.equal(neededForTask(task), task.expiresAt + DEFAULT_RETENTION.finishedMs)
  })

  it('is kept as long as a dead letter can be replayed', () => {
    assert.equal(neededForDeadLetter(NOW), NOW + DEFAULT_RETENTION.deadMs)
  })
})
