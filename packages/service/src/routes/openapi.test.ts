import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startApi, type Served } from './api.test-kit.ts'
import { faultsOf, operationsOf, resolved, type OpenApi } from './openapi.test-kit.ts'

describe('the OpenAPI document', () => {
  let served: Served
  let document: OpenApi
  beforeAll(async () => {
    served = await startApi()
    document = (await served.ask('GET', '/openapi.json')).json
  })
  afterAll(() => served.close())

  it('is not sent again to whoever has it', async () => {
    const { headers } = await served.ask('GET', '/openapi.json')
    const again = await served.ask('GET', '/openapi.json', { headers: { 'if-none-match': String(headers.etag) } })
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag])
  })

  it('is on its way to eight at once, and others are told to come back', async () => {
    const { raw, port, ask } = served
    const request = `GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
    const answers = await raw(`${request}\r\n`.repeat(11) + `${request}connection: close\r\n\r\n`)
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)
    assert.deepEqual(statuses, [...Array<string>(8).fill('200'), ...Array<string>(4).fill('429')])
    assert.equal(answers.match(/^retry-after: \d+\r$/gm)?.length, 4)
    assert.equal((await ask('GET', '/openapi.json')).status, 200)
  })

  it('is of version 3.1, and has every route that is served, and no other', () => {
    assert.match(document.openapi, /^3\.1\./)
    assert.deepEqual(
      operationsOf(document)
        .map(({ method, path }) => `${method} ${path}`)
        .toSorted(),
      [
        'DELETE /keys/{keyId}',
        'DELETE /controls/{controlId}',
        'DELETE /retry-tasks/{taskId}',
        'DELETE /secrets/{secretId}',
        'GET /audit',
        'GET /bodies/{bodyRef}',
        'GET /dead-letters',
        'GET /destinations',
        'GET /destinations/{name}',
        'GET /controls',
        'GET /controls/state',
        'GET /controls/{controlId}',
        'POST /controls',
        'POST /destinations/{name}/drain',
        'POST /destinations/{name}/force',
        'POST /destinations/{name}/pause',
        'POST /destinations/{name}/resume',
        'POST /destinations/{name}/undrain',
        'PUT /destinations/{name}/settings',
        'GET /events',
        'GET /healthz',
        'GET /keys',
        'GET /metrics',
        'GET /openapi.json',
        'GET /readyz',
        'GET /replays',
        'GET /replays/{replayId}',
        'GET /retry-policies',
        'GET /retry-policies/{policyId}',
        'GET /retry-policies/{policyId}/versions',
        'GET /retry-tasks',
        'GET /retry-tasks/{taskId}',
        'GET /retry-tasks/{taskId}/attempts',
        'GET /retry-tasks/{taskId}/explain',
        'GET /secrets',
        'GET /series',
        'GET /tenants',
        'POST /bodies',
        'POST /keys',
        'POST /keys/{keyId}/rotate',
        'POST /replays',
        'POST /replays/{replayId}/cancel',
        'POST /replays/{replayId}/pause',
        'POST /replays/{replayId}/resume',
        'POST /replays/{replayId}/run',
        'POST /retry-policies',
        'POST /retry-tasks',
        'POST /retry-tasks/batch',
        'POST /retry-tasks/{taskId}/attempt-now',
        'POST /retry-tasks/{taskId}/replay',
        'POST /secrets',
        'POST /secrets/{secretId}/rotate',
        'POST /tenants',
      ].toSorted(),
    )
  })

  it('calls every operation by a name of its own, and says what it does', () => {
    const operations = operationsOf(document).map(({ operation }) => operation)
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
    for (const { operationId, summary, tags, responses } of operations) {
      assert.ok(operationId && summary && tags.length === 1, operationId)
      for (const [status, { description, content }] of Object.entries(responses)) {
        assert.ok(description !== '' && description !== 'Default Response', `${operationId} ${status}`)
        // RFC 9110 §15.4.5: what has not changed is not said again.
        if (status === '304') continue
        assert.ok(Object.keys(content).length > 0, `${operationId} ${status}`)
        if (Number(status) >= 400) assert.deepEqual(Object.keys(content), ['application/problem+json'])
      }
    }
  })

  it('refers to nothing that it does not have', () => {
    for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g))
      assert.ok(document.components.schemas[reference!.replace('#/components/schemas/', '')], reference)
  })

  it('has an example for each of its schemas, and each is right', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      assert.ok((schema.examples ?? []).length > 0, name)
      for (const example of schema.examples as object[]) {
        assert.deepEqual(faultsOf(example, resolved(schema, document)), [], name)
        assert.notDeepEqual(faultsOf({ ...example, undescribed: 1 }, resolved(schema, document)), [], name)
      }
    }
  })

  it('says of every parameter that is no text what it must be, to whoever gives a text', async () => {
    const said = new Set<string>()
    for (const { path, method, operation } of operationsOf(document)) {
      const { parameters = [] } = operation
      const wrong = parameters.filter(one => one.in === 'query' && (one.schema.type ?? 'string') !== 'string')
      if (wrong.length === 0) continue
      const filled = path.replaceAll(/{(\w+)}/g, (_, name: string) => {
        const [example = 'any'] = parameters.find(one => one.name === name)?.schema.examples ?? []
        return String(example)
      })
      const query = wrong.map(({ name }) => `${name}=x`).join('&')
      const { status, json } = await served.ask(method, `${filled}?${query}`)
      assert.deepEqual([status, json.problems.length], [400, wrong.length], `${method} ${path}`)
      for (const { say } of json.problems as { say: string }[]) said.add(say)
    }
    assert.ok(said.has('must be true or false') && said.has('must be a whole number from 1 to 200'), [...said].join())
    assert.ok(!said.has('must be something else'))
  })

  it('has examples that work', async () => {
    const { RetryPolicyInput, RetryTaskInput } = document.components.schemas
    const [policy] = RetryPolicyInput!.examples!
    const [task] = RetryTaskInput!.examples!
    assert.equal((await served.ask('POST', '/retry-policies', { body: policy })).status, 201)
    assert.equal((await served.ask('POST', '/retry-tasks', { body: task })).status, 201)
  })
})
