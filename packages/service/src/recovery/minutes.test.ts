import { describe, vi } from 'vitest'
import { HOUR } from './parts.test-kit.ts'
import { ROWS } from './rows.test-kit.ts'
import { itKeepsItsBars } from './virtual-bars.test-kit.ts'

// Virtual time is quick, a busy machine is not.
vi.setConfig({ testTimeout: 600_000 })

describe('recovery within minutes', () => {
  for (const row of ROWS) if (row.endsAtMs < HOUR) itKeepsItsBars(row, [1, 2, 3])
})
