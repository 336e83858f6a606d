import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'

describe('refusals of callers without a good key', () => {
  it('have ten lines in a second, and one that says how many more there were; those of others have one each', async () => {
    const served = await guarded()
    const { log, clock, operator } = served
    const lines = (code: string): { readonly count?: number }[] =>
      log.map(line => JSON.parse(line)).filter(line => line.code === code)
    const knock = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++)
        assert.equal((await served.ask('GET', n % 2 ? '/keys' : '/nowhere')).status, n % 2 ? 401 : 404)
    }
    await knock(14)
    for (let n = 0; n < 14; n++)
      assert.equal((await served.as('GET', '/retry-tasks?limit=none', { key: operator })).status, 400)
    assert.equal(lines('key-missing').length + lines('route-not-found').length, 10)
    assert.equal(lines('invalid-request').length, 14)
    await clock.advance(1_000)
    assert.deepEqual(
      lines('refused-more').map(({ count }) => count),
      [4],
    )
    await knock(2)
    assert.equal(lines('key-missing').length + lines('route-not-found').length, 12)
    await clock.advance(1_000)
    assert.equal(lines('refused-more').length, 1)
  })
})
