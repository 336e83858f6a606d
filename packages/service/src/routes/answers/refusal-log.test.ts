import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import type { FastifyRequest } from 'fastify'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import { RefusalLog } from './refusal-log.ts'
import { Refusal } from './refusal.ts'

describe('refusals', () => {
  it('of callers without a good key have ten lines in a second, and one that says how many more there were', async () => {
    const served = await guarded()
    const { log, clock } = served
    const lines = linesOf(log)
    const knock = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n++)
        assert.equal((await served.ask('GET', n % 2 ? '/keys' : '/nowhere')).status, n % 2 ? 401 : 404)
    }
    await knock(14)
    assert.equal(lines('key-missing').length + lines('route-not-found').length, 10)
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

  it('of one tenant have as many, and those of operators and others beside them', async () => {
    const served = await guarded()
    const { log, clock, operator } = served
    const lines = linesOf(log)
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'enqueue')
    for (let n = 0; n < 14; n++) assert.equal((await served.as('GET', '/audit', { key })).status, 403)
    for (let n = 0; n < 3; n++) await served.as('GET', '/retry-tasks?limit=none', { key: operator })
    await served.ask('GET', '/keys')
    assert.deepEqual(
      ['scope-missing', 'invalid-request', 'key-missing'].map(code => lines(code).length),
      [10, 3, 1],
    )
    await clock.advance(1_000)
    const [more, ...others] = lines('refused-more')
    assert.deepEqual([more!.count, more!.tenant, others], [4, 'acme', []])
    assert.equal(more!.msg, '4 more requests of acme were refused')
  })

  it('of very many tenants share ten lines from the hundredth on', async () => {
    const clock = virtualClock()
    const said: { readonly text: string; readonly fields: object }[] = []
    const log = { info: (fields: object, text: string) => said.push({ text, fields }) }
    const lines = new RefusalLog(clock)
    const refusal = new Refusal('scope-missing', { detail: 'no' })
    for (let n = 0; n < 150; n++)
      lines.tell(refusal, { caller: { tenant: `t${n}`, isOperator: false }, log } as unknown as FastifyRequest, {})
    assert.equal(said.length, 110)
    await clock.advance(1_000)
    assert.deepEqual(said.slice(110), [
      { text: '40 more requests of other tenants were refused', fields: { code: 'refused-more', count: 40 } },
    ])
  })
})

interface Line {
  readonly code: string
  readonly msg: string
  readonly count?: number
  readonly tenant?: string
}

function linesOf(log: readonly string[]): (code: string) => Line[] {
  return wanted => log.map(line => JSON.parse(line) as Line).filter(({ code }) => code === wanted)
}
