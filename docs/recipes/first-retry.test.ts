import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
// #region import
import { retry } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

interface User {
  readonly id: string
}

let calls = 0

async function getUser(id: string, { signal }: { signal: AbortSignal }): Promise<User> {
  signal.throwIfAborted()
  if (++calls < 3) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  return { id }
}

describe('the first retry', () => {
  it('survives two lost connections', async () => {
    const id = '42'
    // #region first
    const user = await retry(({ signal }) => getUser(id, { signal }))
    // #endregion
    assert.deepEqual([user, calls], [{ id: '42' }, 3])
  })

  it('hands out the number of the attempt, the key, the time left and the error before', async () => {
    vi.spyOn(console, 'warn').mockReturnValue()
    const seen: unknown[] = []
    let url = ''
    const send = async (target: string, init: object): Promise<string> => {
      url = target
      seen.push(init)
      if (seen.length === 1) throw Object.assign(new Error('busy'), { status: 503 })
      return 'sent'
    }
    // #region attempt
    const receipt = await retry(({ attempt, signal, idempotencyKey, remainingMs, lastError }) => {
      if (attempt > 1) console.warn(`attempt ${attempt}, ${remainingMs} ms left, after`, lastError)
      return send('https://api.example.com/charges', { signal, headers: { 'idempotency-key': idempotencyKey } })
    })
    // #endregion
    assert.deepEqual([receipt, url, seen.length], ['sent', 'https://api.example.com/charges', 2])
    const [first, second] = seen as { headers: unknown }[]
    assert.deepEqual(first!.headers, second!.headers)
  })

  it('takes a policy, any part of it', async () => {
    const works: number[] = []
    const work = async (): Promise<number> => {
      if (works.push(works.length) < 5) throw Object.assign(new Error('busy'), { status: 503 })
      return works.length
    }
    // #region policy
    const result = await retry(work, { maxAttempts: 5, totalBudgetMs: 5_000 })
    // #endregion
    assert.equal(result, 5)
  })
})
