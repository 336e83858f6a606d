import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Replay } from '@secondwind/client'
import { describe, it, onTestFinished, vi } from 'vitest'
import { startProgram, temporaryDirectory } from './serve.test-kit.ts'

// Real processes: as long as the machine takes.
vi.setConfig({ testTimeout: 120_000 })

const TASKS = 80

describe('a replay of a service that is killed in the middle, again and again', () => {
  it('loses nothing, repeats no more than was under way, and its counts add up', async () => {
    const target = await aTarget()
    const words = ['dev', '--port', '0', '--data', temporaryDirectory()]
    let program = await startProgram(words)
    let client = createClient({ url: program.url })
    const order = { targetUrl: `${target.url}/charge`, method: 'POST' } as const
    await client.tasks.enqueueMany(Array.from({ length: TASKS }, () => order))
    const until = async (replayId: string, isSo: (replay: Replay) => boolean): Promise<Replay> => {
      for (;;) {
        const replay = await client.replays.get(replayId)
        if (isSo(replay)) return replay
        await sleep(50)
      }
    }
    for (let dead = 0; dead < TASKS; await sleep(50))
      for await (const { count } of client.deadLetters.groups()) dead = count

    target.isWell = true
    target.arrivals.clear()
    const filter = { destination: target.url }
    const { replayId } = await client.replays.plan({ filter, ratePerSecond: 30, include: ['permanent'] })
    await until(replayId, ({ status }) => status === 'PLANNED')
    await client.replays.run(replayId)
    for (const sent of [8, 45]) {
      await until(replayId, ({ counts }) => counts.sent >= sent)
      program.kill('SIGKILL')
      await program.exitCode
      program = await startProgram(words)
      client = createClient({ url: program.url })
    }
    const { counts, skipped } = await until(replayId, ({ status }) => status === 'FINISHED')
    const ended = await until(replayId, each => each.counts.succeeded === TASKS)
    assert.deepEqual([counts.moved, counts.sent, counts.left, ended.counts.exhausted], [TASKS, TASKS, 0, 0])
    assert.deepEqual(skipped, [])
    assert.equal(target.arrivals.size, TASKS)
    const repeated = [...target.arrivals.values()].reduce((sum, times) => sum + times - 1, 0)
    assert.ok(repeated <= 2 * 30, `${repeated} were repeated`)
  })
})

interface CountingTarget {
  readonly url: string
  isWell: boolean
  /** How often each key arrived while it was well. */
  readonly arrivals: Map<string, number>
}

async function aTarget(): Promise<CountingTarget> {
  const target = { url: '', isWell: false, arrivals: new Map<string, number>() }
  const server = createServer((request, response) => {
    const key = String(request.headers['idempotency-key'])
    target.arrivals.set(key, (target.arrivals.get(key) ?? 0) + 1)
    response.writeHead(target.isWell ? 200 : 400).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  target.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return target
}
