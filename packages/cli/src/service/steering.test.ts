import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type Client } from '@secondwind/client'
import { describe, it, onTestFinished, vi } from 'vitest'
import { startProgram, temporaryDirectory } from './serve.test-kit.ts'

// Processes, sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 120_000 })

/** On a machine that is busy, too. */
const LONGER_THAN_A_RESTART_MS = 25_000

/** A target that writes down when it was called. */
async function aTarget(): Promise<{ readonly origin: string; readonly calls: number[] }> {
  const calls: number[] = []
  const server = createServer((request, response) => {
    calls.push(Date.now())
    request.resume().on('end', () => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

/** Killed without warning, and started again on the same file. */
async function restarting(): Promise<{ readonly client: () => Client; readonly again: () => Promise<void> }> {
  const words = ['dev', '--port', '0', '--data', temporaryDirectory()]
  let program = await startProgram(words)
  return {
    client: () => createClient({ url: program.url }),
    again: async () => {
      program.kill('SIGKILL')
      await program.exitCode
      program = await startProgram(words)
    },
  }
}

describe('what operators have ordered', () => {
  it('is in force after a crash as before it, and a control with an end still ends by itself', async () => {
    const [target, { client, again }] = await Promise.all([aTarget(), restarting()])
    const scope = { kind: 'destination', destination: target.origin } as const
    const { controlId, expiresAt } = await client().controls.create({
      level: 'dispatch-off',
      scope,
      reason: 'a crash',
      forMs: LONGER_THAN_A_RESTART_MS,
    })
    const tasks = await Promise.all(
      Array.from({ length: 5 }, () => client().tasks.enqueue({ targetUrl: `${target.origin}/` })),
    )
    await again()
    const { explanation } = await client().tasks.explain(tasks[0]!.taskId)
    const held = await client().controls.get(controlId)
    assert.deepEqual([held.isInForce, held.expiresAt, held.holds!.waitingTasks], [true, expiresAt, 5])
    assert.match(
      explanation,
      /the kill switch is at dispatch-off by order of an operator \("a crash"\)|serves its destination/,
    )
    for (const { taskId } of tasks) assert.equal((await client().waitFor(taskId)).attemptNumber, 1)
    assert.equal(target.calls.length, 5)
    assert.equal((await client().controls.get(controlId)).isInForce, false)
    assert.ok(Math.min(...target.calls) >= expiresAt! - 1_000, 'none before its end, by the clock of the store')
  })

  it('comes back by the ramp that was begun before the crash', async () => {
    const [target, { client, again }] = await Promise.all([aTarget(), restarting()])
    await client().destinations.put(target.origin, { name: 'slow-starter' })
    await client().destinations.pause('slow-starter', { reason: 'a crash' })
    const { settings } = await client().destinations.resume('slow-starter', { rampMs: 3_600_000 })
    await again()
    const { taskId } = await client().tasks.enqueue({ targetUrl: `${target.origin}/` })
    assert.equal((await client().waitFor(taskId)).status, 'SUCCEEDED')
    const after = await client().destinations.get('slow-starter')
    assert.deepEqual(after.settings, settings)
    assert.equal(after.limit, 1, 'an hour to the whole limit')
  })
})
