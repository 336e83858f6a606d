import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { retry, type RetryOptions } from '@secondwind/resilience'
import { createFetch } from '@secondwind/resilience/fetch'
// #region import
import { expectNoLeaks, faults, scriptedServer, seededRandom, virtualClock } from '@secondwind/resilience/testing'
// #endregion

// #region code-under-test
/** The code under test takes time and chance from outside; in production it is called without. */
function readRate(fetchRate: () => Promise<number>, ports: RetryOptions['ports'] = {}): Promise<number> {
  return retry(fetchRate, { maxAttempts: 4, jitterType: 'NONE' }, { ports })
}
// #endregion

const busy = (): Error => Object.assign(new Error('busy'), { status: 503 })

describe('testing without waiting', () => {
  // #region virtual-clock
  it('asks for the rate again after 100, 200 and 400 ms', async () => {
    const clock = virtualClock()
    const calledAt: number[] = []
    const fetchRate = async () => {
      calledAt.push(clock.monotonic())
      if (calledAt.length < 4) throw busy()
      return 1.08
    }
    const rate = readRate(fetchRate, { clock })
    await clock.drain() // runs until nothing waits any more
    assert.equal(await rate, 1.08)
    assert.deepEqual(calledAt, [0, 100, 300, 700])
  })
  // #endregion

  it('moves time on step by step', async () => {
    const clock = virtualClock()
    // #region advance
    const rate = readRate(() => Promise.reject(busy()), { clock }).catch(() => 'no rate')
    await clock.advance(699)
    assert.equal(clock.pending, 1) // the fourth attempt is still to come
    await clock.advance(1)
    assert.equal(await rate, 'no rate')
    // #endregion
  })

  // #region seed
  it('waits the same whenever the dice are the same', async () => {
    const waitsWith = async (seed: number) => {
      const clock = virtualClock()
      const operation = retry(() => Promise.reject(busy()), {}, { ports: { clock, random: seededRandom(seed) } })
      await Promise.allSettled([operation, clock.drain()])
      return clock.monotonic()
    }
    assert.equal(await waitsWith(42), await waitsWith(42))
    assert.notEqual(await waitsWith(42), await waitsWith(43))
  })
  // #endregion

  // #region scripted-server
  it('reads the order from a server that is busy at first', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['503 retry-after=1', 'reset', '200 {"id":42}'], { clock })
    const fetch = createFetch({}, { fetch: server.fetch, ports: { clock } })

    const order = fetch('/orders/42').then(response => response.json())
    await clock.drain()
    assert.deepEqual(await order, { id: 42 })
    assert.deepEqual(
      server.requests.map(({ method, path, headers }) => [method, path, headers['retry-attempt']]),
      [
        ['GET', '/orders/42', '1'],
        ['GET', '/orders/42', '2'],
        ['GET', '/orders/42', '3'],
      ],
    )
    assert.ok(server.requests[1]!.at >= 1_000) // not before the server said
  })
  // #endregion

  // #region listen
  it('reads the same script through a real socket', async () => {
    const { url, close } = await scriptedServer(['200 {"id":42}']).listen()
    try {
      const response = await createFetch()(`${url}/orders/42`)
      assert.deepEqual(await response.json(), { id: 42 })
    } finally {
      await close()
    }
  })
  // #endregion

  // #region faults
  it('survives a second in which every call is lost', async () => {
    const clock = virtualClock()
    const flaky = faults(async () => 'saved', { errorRate: 1, until: 1_000, clock })
    const policy = { maxAttempts: 10, totalBudgetMs: 10_000 }
    const saved = retry(flaky, policy, { ports: { clock, random: seededRandom(7) } })
    await clock.drain()
    assert.equal(await saved, 'saved')
  })
  // #endregion

  // #region leaks
  it('leaves nothing behind when the user leaves', async () => {
    const clock = virtualClock()
    await expectNoLeaks(
      async check => {
        const controller = check.controller() // its listeners are counted
        const options = { signal: controller.signal, ports: { clock } }
        const operation = retry(() => Promise.reject(busy()), { jitterType: 'NONE' }, options)
        await clock.advance(10) // in the middle of the first wait
        controller.abort(new Error('the user left'))
        await assert.rejects(operation, /the user left/)
      },
      { clock },
    )
  })
  // #endregion
})
