import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runSmall, smallWorld } from '../run-scenario.test-kit.ts'
import type { Trouble } from '../scenario/scenario.ts'
import { troubleEndOf } from './recovery.ts'

const until = (untilMs: number, more: Partial<Trouble> = { errorRate: 1 }): readonly Trouble[] => [
  { fromMs: 2_000, untilMs, ...more },
]

function recoveredAfterMs(troubles: readonly Trouble[]): number | undefined {
  return runSmall({ durationMs: 30_000, server: { servers: 1, troubles } }).result.recovery.recoveredAfterMs
}

describe('a recovery', () => {
  it('that is there in the first whole step takes no time, wherever in a step the trouble ends', () => {
    assert.deepEqual(
      [2_001, 4_000, 4_001, 4_500, 4_999].map(untilMs => recoveredAfterMs(until(untilMs))),
      [0, 0, 0, 0, 0],
    )
  })

  it('that takes longer is counted from the end of the trouble', () => {
    // Two servers' worth of work waits when it is over: ten calls a second, each of which takes 90 ms.
    const server = { servers: 1, serviceMs: 90, troubles: until(8_500, { capacity: 0 }) }
    const policy = { name: 'p', retry: { maxAttempts: 1, attemptTimeoutMs: 1_000 }, budget: false } as const
    const { recoveredAfterMs } = runSmall({ durationMs: 120_000, server, policy }).result.recovery
    assert.ok(recoveredAfterMs! > 1_000)
    assert.equal((recoveredAfterMs! + 8_500) % 1_000, 0)
  })

  it('is asked for only where a trouble ends early enough to be seen to', () => {
    const end = (troubles: readonly Trouble[]): number | undefined => troubleEndOf(smallWorld({ server: { troubles } }))
    assert.equal(troubleEndOf(smallWorld({})), undefined)
    assert.deepEqual(
      [8_999, 9_000, 9_001, 10_000, 1e7].map(untilMs => end(until(untilMs))),
      [8_999, 9_000, undefined, undefined, undefined],
    )
    assert.equal(runSmall({ server: { troubles: until(9_500) } }).result.recovery.troubleEndsAtMs, undefined)
  })
})
