import assert from 'node:assert/strict'
import { createClient, followControls } from '@secondwind/client'
import { retry } from '@secondwind/resilience'
import { describe, it, onTestFinished, vi } from 'vitest'
import { aService, aTarget } from './service.test-kit.ts'

// Sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

/** How often a call that never succeeds is made. */
async function callsMade(): Promise<number> {
  let calls = 0
  const failing = async (): Promise<never> => {
    calls++
    throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
  }
  await assert.rejects(retry(failing, { maxAttempts: 3, initialDelayMs: 1 }))
  return calls
}

describe('a process that follows the kill switch of a service', () => {
  it('is reached within five seconds, stays as it is when the service is gone, and goes on by itself afterwards', async () => {
    const service = await aService()
    const client = createClient({ url: service.url, policy: { maxAttempts: 1 } })
    // #region follow
    const followed = followControls(client)
    // #endregion
    onTestFinished(() => followed.stop())
    await followed.looked
    assert.equal(await callsMade(), 3)

    const control = await client.controls.create({ level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' })
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), 'retries-off'), 5_000)
    assert.equal(await callsMade(), 1)
    await client.controls.end(control.controlId)
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), undefined), 5_000)

    await client.controls.create({ level: 'dispatch-off', scope: { kind: 'all' }, reason: 'a storm', forMs: 20_000 })
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), 'retries-off'), 5_000)
    await service.stop()
    await assert.rejects(client.controls.state())
    assert.equal(await callsMade(), 1)
    followed.stop()
    assert.equal(await callsMade(), 3)
  })
})

describe('an operator', () => {
  it('pauses a destination, tries one task by hand, and resumes it', async () => {
    const [{ url }, target] = await Promise.all([aService(), aTarget()])
    target.isUp = true
    const client = createClient({ url })
    // #region steer
    await client.destinations.pause(new URL(target.url).origin, { reason: 'INC-2231', forMs: 1_800_000 })
    const { taskId } = await client.tasks.enqueue({ targetUrl: target.url })
    // …
    await client.tasks.attemptNow(taskId) // passes the pause
    await client.waitFor(taskId)
    await client.destinations.resume(new URL(target.url).origin, { rampMs: 300_000, stopOnFailureRate: 0.3 })
    // #endregion
    const { settings } = await client.destinations.get(new URL(target.url).origin)
    assert.deepEqual([settings!.paused, settings!.resumed!.rampMs], [undefined, 300_000])
    const other = await client.tasks.enqueue({ targetUrl: target.url })
    assert.equal((await client.waitFor(other.taskId)).status, 'SUCCEEDED')
  })
})
