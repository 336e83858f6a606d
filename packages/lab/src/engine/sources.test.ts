import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { runSmall } from '../run-scenario.test-kit.ts'

describe('serial clients', () => {
  it('let time pass between two calls, although they do not think and are refused at once', () => {
    const { clients } = runSmall({
      durationMs: 1_000,
      group: { count: 2, arrivals: { kind: 'closed', thinkMs: 0 } },
      server: { troubles: [{ fromMs: 0, untilMs: 1_000, unreachable: true }] },
    })
    assert.deepEqual([clients.operations, clients.succeeded], [2_000, 0])
  })

  it('that are served do not wait for their next call', () => {
    const { clients } = runSmall({ durationMs: 1_000, group: { arrivals: { kind: 'closed', thinkMs: 0 } } })
    assert.equal(clients.operations, 100)
  })
})
