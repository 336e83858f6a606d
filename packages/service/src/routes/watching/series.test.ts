import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../../task/lane.ts'
import { refusalOf, serve, type Served } from '../api.test-kit.ts'

function call({ live }: Served, destination: string, tenant = 'default'): void {
  live.series.attemptEnded({
    taskId: 'a',
    lane: laneKey({ tenant, destination }),
    policyId: 'default',
    outcome: 'success',
    attemptNumber: 1,
    durationMs: 10,
    latenessMs: 0,
    ownLatenessMs: 0,
    overheadMs: 0,
  })
}

/** Instead of every tenant. */
const DEFAULT = { 'secondwind-tenant': 'default' }

describe('GET /series', () => {
  it('shows every second since the service began, of all destinations or of one', async () => {
    const served = await serve()
    const { ask, clock } = served
    const startedAt = clock.now()
    call(served, 'https://a.example')
    call(served, 'https://b.example')
    await clock.advance(2_000)
    const slot = { first: 1, retry: 0, succeeded: 1, failed: 0, held: 0, latencyMs: { p50: 10, p99: 10 } }
    const none = { first: 0, retry: 0, succeeded: 0, failed: 0, held: 0 }
    assert.deepEqual((await ask('GET', '/series?destination=https://a.example')).json, {
      resolution: 'second',
      destination: 'https://a.example',
      slots: [
        { at: startedAt, ...slot },
        { at: startedAt + 1_000, ...none },
      ],
    })
    const { json } = await ask('GET', `/series?resolution=second&from=${startedAt}&to=${startedAt + 1_000}`)
    assert.deepEqual(json, {
      resolution: 'second',
      slots: [{ at: startedAt, ...slot, first: 2, succeeded: 2 }],
    })
  })

  it('shows nothing of another tenant', async () => {
    const served = await serve()
    call(served, 'https://a.example', 'other')
    await served.clock.advance(1_000)
    const { slots } = (await served.ask('GET', '/series?destination=https://a.example', { headers: DEFAULT })).json
    assert.deepEqual([slots.length, slots[0].first], [1, 0])
  })

  it('adds up what all tenants have sent, for an operator who names none', async () => {
    const served = await serve()
    call(served, 'https://a.example', 'other')
    call(served, 'https://a.example')
    call(served, 'https://b.example', 'other')
    await served.clock.advance(1_000)
    for (const [query, first] of [
      ['', 3],
      ['?destination=https://a.example', 2],
    ] as const) {
      const { slots } = (await served.ask('GET', `/series${query}`)).json
      assert.deepEqual([slots[0].first, slots[0].latencyMs], [first, { p50: 10, p99: 10 }])
    }
  })

  it('refuses a span that ends before it begins, and what is no instant', async () => {
    const { ask, clock } = await serve()
    const now = clock.now()
    assert.deepEqual(refusalOf(await ask('GET', `/series?from=${now}&to=${now}`)), [
      400,
      'invalid-request',
      'to must be later than from',
    ])
    assert.deepEqual(refusalOf(await ask('GET', '/series?from=1700000000&resolution=hour')), [
      400,
      'invalid-request',
      'resolution must be one of second, minute',
      'from must be an instant in whole milliseconds since the epoch',
    ])
  })
})
