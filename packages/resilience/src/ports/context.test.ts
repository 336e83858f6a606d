import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, it } from 'vitest'
import { transient } from '../classify/marks.ts'
import { RefusedError } from '../errors.ts'
import type { Accompanied, Companion } from '../retry/companion.ts'
import { retry } from '../retry/run.ts'

const storage = new AsyncLocalStorage<string>()

/** What each attempt saw of the context; real time, for it is the runtime's timers that carry contexts. */
function seenBy(id: string, initialDelayMs: number, fail: () => unknown): Promise<unknown[]> {
  return storage.run(id, async () => {
    const seen: unknown[] = []
    const policy = { maxAttempts: 3, initialDelayMs, jitterType: 'NONE', attemptTimeoutMs: 5 } as const
    const work = (): unknown => (seen.push(storage.getStore()) < 3 ? fail() : undefined)
    await retry(work, policy, { budget: false })
    return seen
  })
}

/** Ends the operation that it has met last. */
const killing = {
  end: (): void => {},
  accompany(operation: Accompanied): Companion {
    killing.end = () => operation.refuse(new RefusedError('killed', 'off'))
    return {}
  },
}

describe('the async context', () => {
  it('of every attempt is that of its own operation, whoever set the timer', async () => {
    const fail = (): never => {
      throw transient(new Error('not yet'))
    }
    const seen = await Promise.all([seenBy('a', 6, fail), seenBy('b', 3, fail), seenBy('c', 9, fail)])
    assert.deepEqual(seen, [
      ['a', 'a', 'a'],
      ['b', 'b', 'b'],
      ['c', 'c', 'c'],
    ])
  })

  it('is nobody’s, and not another’s, after an attempt that did not hear its time-out', async () => {
    const hang = (): Promise<never> => new Promise(() => {})
    const [, seen] = await Promise.all([storage.run('other', () => retry(() => 1)), seenBy('mine', 3, hang)])
    assert.deepEqual(seen, ['mine', undefined, undefined])
  })

  it('of the hook is that of the operation, whoever ends its wait', async () => {
    const ended = storage.run('mine', () =>
      retry(
        () => Promise.reject(transient(new Error('down'))),
        { initialDelayMs: 5_000, jitterType: 'NONE' },
        {
          gates: [killing],
          onExhausted: () => storage.getStore(),
        },
      ),
    )
    await new Promise(resolve => setImmediate(resolve))
    storage.run('the administrator', () => killing.end())
    assert.equal(await ended, 'mine')
  })

  it('ends for whoever waits as it began', async () => {
    const after = await storage.run('mine', async () => {
      await seenBy('inner', 2, () => {
        throw transient(new Error('not yet'))
      })
      return storage.getStore()
    })
    assert.equal(after, 'mine')
  })
})
