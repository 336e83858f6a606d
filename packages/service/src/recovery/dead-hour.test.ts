import { describe, vi } from 'vitest'
import { ROWS } from './rows.test-kit.ts'
import { itKeepsItsBars } from './virtual-bars.test-kit.ts'

// A hundred thousand tasks take some real seconds.
vi.setConfig({ testTimeout: 600_000 })

describe('recovery of a large backlog', () => {
  for (const row of ROWS) if (row.name === 'dead-hour') itKeepsItsBars(row, [1, 2])
})
