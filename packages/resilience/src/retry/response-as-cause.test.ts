import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { retry } from './run.ts'
import { outcomeOf, scripted, STEADY } from './scripted.test-kit.ts'

describe('retry', () => {
  it('asks the response that caused an error: by its status it is retried or not, and no earlier than it says', async () => {
    const { clock, ports } = scripted()
    const beganAt = clock.now()
    const waits: { readonly [retryAfter: string]: number } = {
      '20': 22_000,
      [new Date(beganAt + 20_000).toUTCString()]: 22_000,
      '': 100,
    }
    for (const [retryAfter, waitMs] of Object.entries(waits)) {
      const calls: number[] = []
      const work = async (): Promise<string> => {
        if (calls.push(clock.monotonic()) > 1) return 'yes'
        const response = new Response('', { status: 503, headers: { 'retry-after': retryAfter } })
        throw new Error(response.statusText, { cause: response })
      }
      clock.jumpWall(beganAt - clock.now())
      assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports })), { value: 'yes' })
      assert.equal(calls[1]! - calls[0]!, waitMs, retryAfter)
    }
    const gone = new Error('Not Found', { cause: new Response('', { status: 404 }) })
    const { work, calls } = scripted(gone)
    assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports })), { error: gone })
    assert.equal(calls.length, 1)
  })
})
