import type { Destination } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { aService } from '../remote/service.test-kit.ts'
import { stormOf } from './storm.ts'

const calm: Destination = {
  destination: 'https://calm.example',
  inFlight: 0,
  backlog: 0,
  succeeded: 99,
  exhausted: 0,
  cancelled: 0,
  attempts: 100,
  retryShare: 0.01,
}

describe('destinations', () => {
  it('are listed, and one of them is shown with its gates', async () => {
    const { aTask, client, url, atTerminal, inPipe } = await aService()
    await client.waitFor((await aTask('503')).taskId)
    assert.equal((await inPipe(['destinations', 'list', '--ids'])).stdout, `${url}\n`)
    const { stdout } = await atTerminal(['destinations', 'get', url])
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /last 5 min 2 attempts, of which 50 % retries; 2 × the load of first attempts attempts 2, of which 50 % retries/,
    )
    const unknown = await inPipe(['destinations', 'get', 'nobody'])
    assert.deepEqual([unknown.exitCode, unknown.stderr.includes('error destination-not-found')], [3, true])
  })
})

describe('a storm', () => {
  const lately = (attempts: number, retryShare: number) => ({ recent: { windowMs: 300_000, attempts, retryShare } })

  it('is where most retries are, among destinations whose attempts are enough to tell', () => {
    const worst = { ...calm, destination: 'https://worst.example', ...lately(1_000, 0.6), backlog: 3 }
    const small = { ...calm, destination: 'https://small.example', ...lately(4, 0.75) }
    const worse = { ...calm, destination: 'https://worse.example', ...lately(50, 0.9) }
    assert.deepEqual(stormOf([calm, small, worse, worst]), {
      destination: 'https://worst.example',
      say: 'A retry storm: 60 % of the attempts at https://worst.example in the last 5 min were retries. 3 tasks wait for it.',
    })
    assert.equal(stormOf([calm, small]), undefined)
  })

  it('is one of now: good history does not hide it, and bad history is none', () => {
    assert.notEqual(stormOf([{ ...calm, attempts: 1_000_000, ...lately(100, 0.8) }]), undefined)
    assert.equal(stormOf([{ ...calm, retryShare: 0.9, ...lately(100, 0.01) }]), undefined)
    assert.equal(stormOf([{ ...calm, retryShare: 0.9 }]), undefined)
  })
})
