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
    assert.match(stdout, /attempts {7}2, of which 50 % retries\n {2}amplification {2}2 × the load/)
    const unknown = await inPipe(['destinations', 'get', 'nobody'])
    assert.deepEqual([unknown.exitCode, unknown.stderr.includes('error destination-not-found')], [3, true])
  })
})

describe('a storm', () => {
  it('is where most retries are, among destinations whose attempts are enough to tell', () => {
    const worst = { ...calm, destination: 'https://worst.example', attempts: 1_000, retryShare: 0.6, backlog: 3 }
    const small = { ...calm, destination: 'https://small.example', attempts: 4, retryShare: 0.75 }
    const worse = { ...calm, destination: 'https://worse.example', attempts: 50, retryShare: 0.9 }
    assert.deepEqual(stormOf([calm, small, worse, worst]), {
      destination: 'https://worst.example',
      say: '60 % of the attempts at https://worst.example are retries. 3 tasks wait for it.',
    })
    assert.equal(stormOf([calm, small]), undefined)
  })
})
