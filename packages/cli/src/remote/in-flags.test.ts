import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { inFlags, isOnlyCount, isToldBy } from './in-flags.ts'
import { aService } from './service.test-kit.ts'

describe('what the service says of a field', () => {
  it('is told of the flag that was typed for it, with what was typed', () => {
    const problem = { at: 'until', is: 1_794_960_000_000, say: 'must be an instant that is to come' }
    assert.deepEqual(inFlags(problem, { until: '1h' }), { ...problem, at: '--until', is: '1h' })
    const wait = { at: 'rampMs', is: 0, say: 'must be 1 or more' }
    assert.deepEqual(inFlags(wait, { ramp: '0s' }), { ...wait, at: '--ramp', is: '0s' })
  })

  it('keeps its name where nobody typed it, and an instant is written as people write it', () => {
    const problem = { at: 'expiresAt', is: 1_794_960_000_000, say: 'must be to come' }
    assert.deepEqual(inFlags(problem, {}), { ...problem, is: '2026-11-18T00:00:00Z' })
    assert.deepEqual(inFlags({ at: '', is: 1, say: 'x' }, {}), { at: '', is: 1, say: 'x' })
  })

  it('is not said twice', () => {
    assert.ok(isOnlyCount('The body has 1 problem.'))
    assert.ok(!isOnlyCount('The body has 12 bytes, 10 are taken.'))
    assert.ok(isToldBy('It is loopback.', { at: 'targetUrl', is: 'x', say: 'must not be called: it is loopback' }))
    assert.ok(!isToldBy('It is loopback.', { at: 'targetUrl', is: 'x', say: 'must be an address' }))
  })

  it('of a target that must not be called is one sentence', async () => {
    const { inPipe } = await aService()
    const { stderr } = await inPipe(['tasks', 'submit', 'http://10.0.0.1/charge'])
    assert.match(stderr, /^error target-forbidden /)
    assert.equal(stderr.match(/--allow-target/g)?.length, 2, stderr)
  })

  it('of a pause that would have ended before it began is told before it is asked for', async () => {
    const { inPipe, url } = await aService()
    const { exitCode, stderr } = await inPipe(['pause', url, '--until', '2026-01-01T00:00:00Z'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /\n {2}--until must be a time to come: it is \S+Z now \(is "2026-01-01T00:00:00Z"\)\n/)
  })
})
