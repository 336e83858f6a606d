import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { compareStores } from '../histories.test-kit.ts'
import { openMemoryStore } from '../memory/memory-store.ts'
import type { OpenStore } from '../task-store.conformance.ts'
import { openTemporarySqliteStore } from './sqlite.test-kit.ts'

const openMemory: OpenStore = async ({ clock }) => ({ store: openMemoryStore({ clock }) })

/** Each opens a store with its threads; `HISTORIES` in the environment makes it more. */
const RUNS = process.env['HISTORIES'] === undefined ? { runs: 30 } : {}

describe('random histories', () => {
  it('are the same on disk as in memory', { timeout: 3_600_000 }, async () => {
    await assert.doesNotReject(compareStores(openMemory, openTemporarySqliteStore, RUNS))
  })
})
