import type { Destination } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { RemoteCall } from '../remote/remote-command.ts'
import { nextSteps, spareIt } from './next-steps.ts'

const one: Destination = {
  destination: 'https://api.example',
  inFlight: 0,
  backlog: 0,
  succeeded: 0,
  exhausted: 0,
  cancelled: 0,
  attempts: 0,
  retryShare: 0,
}
const call = {
  typed: (...words: string[]) => words.join(' '),
  clock: { now: () => 1_767_300_000_000 },
} as unknown as RemoteCall

describe('what is proposed for a destination', () => {
  it('whose retries a kill switch holds is the end of that switch, once for all kinds of retries', async () => {
    const hold = { reason: 'kill-switch', level: 'retries-off', controlId: 'c1' } as const
    const steps = await nextSteps({ ...one, kindHolds: { retry: hold, late: hold } }, call)
    assert.deepEqual(steps, ['kill off c1', 'tasks list --destination https://api.example'])
  })

  it('of several tenants is a look at the first one that a gate holds, for some of its attempts at least', async () => {
    const calm = { ...one, tenant: 'calm' }
    const held = { ...one, tenant: 'acme', kindHolds: { late: { reason: 'breaker-open' } } } as const
    const steps = await nextSteps({ ...one, tenants: [calm, held] }, call)
    assert.equal(steps[0], 'destinations get https://api.example --tenant acme')
  })

  it('with many retries is no pause where its retries are sent one at a time already', () => {
    const open = { reason: 'breaker-open', everyMs: 1_000, until: 0 } as const
    assert.deepEqual(spareIt({ ...one, kindHolds: { retry: open } }, call.typed), [])
    assert.deepEqual(spareIt({ ...one, kindHolds: { first: open } }, call.typed), [
      'pause https://api.example --for 30min',
    ])
  })
})
