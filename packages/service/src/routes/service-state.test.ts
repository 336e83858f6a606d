import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { serve } from './api.test-kit.ts'

describe('the state of the service', () => {
  it('is alive as long as it answers', async () => {
    const { ask, clock } = await serve({ health: async () => ({ problems: ['The disk is full.'], clockSkewMs: 0 }) })
    const { status, json } = await ask('GET', '/healthz')
    assert.deepEqual(
      [status, json],
      [200, { status: 'alive', version: '0.0.0', instance: 'one-start', answeredAt: clock.now() }],
    )
  })

  it('is told with the format of its data file, where there is one', async () => {
    const { ask } = await serve({ format: 15 })
    assert.equal((await ask('GET', '/healthz')).json.format, 15)
  })

  it('is ready, or says what keeps it from its work', async () => {
    let problems: string[] = []
    const { ask } = await serve({ health: async () => ({ problems, clockSkewMs: 12.5 }) })
    assert.deepEqual((await ask('GET', '/readyz')).json, { status: 'ready', clockSkewMs: 12.5 })
    problems = ['The disk is full.', 'Nobody claims.']
    const { status, json, headers } = await ask('GET', '/readyz')
    assert.deepEqual([status, json.code, json.detail], [503, 'not-ready', 'The disk is full. Nobody claims.'])
    assert.ok(Number(headers['retry-after']) >= 5)
  })

  it('is ready whatever operators have ordered', async () => {
    const { ask } = await serve()
    const off = { level: 'intake-off', scope: { kind: 'all' }, reason: 'INC-2231' }
    assert.equal((await ask('POST', '/controls', { body: off })).status, 201)
    assert.equal((await ask('GET', '/readyz')).status, 200)
  })

  it('is told to Prometheus in its own format', async () => {
    const { ask } = await serve()
    const { status, headers, text } = await ask('GET', '/metrics')
    assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4'])
    assert.equal(text, 'retry_tasks{status="PENDING"} 0\n')
  })

  it('lets practice endpoints be added that take whatever is sent', async () => {
    const { ask } = await serve({
      practice: api => {
        api.removeAllContentTypeParsers()
        api.addContentTypeParser('*', (_, payload, parsed) => void payload.resume().on('end', () => parsed(null)))
        api.all('/_echo', async () => ({ said: 'well done' }))
      },
    })
    const headers = { 'content-type': 'text/xml', accept: 'text/html' }
    assert.deepEqual((await ask('PUT', '/_echo', { body: '<a/>', headers })).json, { said: 'well done' })
    const { paths } = (await ask('GET', '/openapi.json')).json
    assert.equal(paths['/_echo'], undefined)
  })
})
