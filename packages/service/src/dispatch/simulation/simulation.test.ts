import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { storm } from './storm.test-kit.ts'

/** So many histories, from this one on; `STORMS=5000 STORMS_SEED=1` is a quiet evening's work. */
const STORMS = Number(process.env['STORMS'] ?? 300)
const STORMS_SEED = Number(process.env['STORMS_SEED'] ?? 1)

describe('whatever happens to processes, network, clocks and destinations', () => {
  it('nothing is lost or ends twice, every request counts once, no limit is passed, and lanes count what the store holds', async () => {
    for (let seed = STORMS_SEED; seed < STORMS_SEED + STORMS; seed++)
      await assert.doesNotReject(storm(seed), `replay it with STORMS=1 STORMS_SEED=${seed}`)
  }, 600_000)
})
