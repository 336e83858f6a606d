import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import { TASK } from '../api.test-kit.ts'

describe('large JSON bodies', () => {
  it('count by what they announce, in fair shares, until they are answered or broken off; small ones never do', async () => {
    const served = await guarded({ limits: { jsonBytes: 1_000_000 } })
    const keyOf = async (tenant: string): Promise<string> => {
      await served.addTenant(tenant)
      return served.keyFor(tenant, 'enqueue')
    }
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const codeFor = async (key: string, bytes: number): Promise<string | undefined> => {
      const { json, status, headers } = await served.as('POST', '/retry-tasks', {
        key,
        body: { ...TASK, body: 'y'.repeat(bytes) },
      })
      assert.equal(status === 429, headers['retry-after'] !== undefined)
      return json.code
    }
    const head = (key: string): string =>
      `POST /retry-tasks/batch HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
    const slow = connect(served.port, '127.0.0.1')
    slow.write(`${head(greedy)}content-length: 800000\r\n\r\n[`)
    while ((await codeFor(greedy, 150_000)) !== 'bodies-full');
    assert.notEqual(await codeFor(greedy, 1_000), 'bodies-full')
    assert.notEqual(await codeFor(other, 150_000), 'bodies-full')
    const unmeasured = `${head(other)}connection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`
    assert.match(await served.raw(unmeasured), /^HTTP\/1.1 429 [^]*bodies-full/)
    slow.destroy()
    while ((await codeFor(greedy, 150_000)) === 'bodies-full');
    // What was answered counts no more.
    for (let n = 0; n < 10; n++) assert.notEqual(await codeFor(greedy, 800_000), 'bodies-full')
  })

  it('that are larger than is ever taken are told so, and not to come back', async () => {
    const served = await guarded({ limits: { jsonBytes: 100_000, batchBytes: 200_000 } })
    const body = `[${' '.repeat(300_000)}]`
    const { json } = await served.as('POST', '/retry-tasks/batch', { key: served.operator, body })
    assert.equal(json.code, 'body-too-large')
  })
})
