import { describe, vi } from 'vitest'
import { HOUR } from './parts.test-kit.ts'
import { ROWS } from './rows.test-kit.ts'
import { itKeepsItsBars } from './virtual-bars.test-kit.ts'

// Thousands of virtual beats take some real seconds.
vi.setConfig({ testTimeout: 600_000 })

describe('recovery after hours', () => {
  for (const row of ROWS) if (row.endsAtMs >= HOUR && row.name !== 'dead-hour') itKeepsItsBars(row, [1, 2, 3])
})
