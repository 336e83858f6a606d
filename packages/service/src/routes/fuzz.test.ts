/** Every operation of the OpenAPI document, asked with what it takes and with what it does not. */
import { check } from '@secondwind/resilience/rules'
import { virtualClock } from '@secondwind/resilience/testing'
import fc, { type Arbitrary } from 'fast-check'
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { KeyRing } from '../access/key-ring.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import { redactHeaders } from './tasks/task-view.ts'
import { attempt, claim, startApi, TASK, type Answered, type Served } from './api.test-kit.ts'
import {
  brokenOf,
  faultsOf,
  operationsOf,
  resolved,
  valuesOf,
  type JsonSchema,
  type OpenApi,
  type Operation,
} from './openapi.test-kit.ts'

const RUNS = 40

let served: Served
let document: OpenApi
let taskIds: string[]
let replayIds: string[]
let bodyRef: string
let controlIds: string[]

/** With keys in force: an operation that makes the first one would lock out all that come after. */
const ADMIN_KEY = 'a-key-for-everything-that-is-asked-here'

beforeAll(async () => {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const open = await startApi({
    clock,
    store,
    keys: new KeyRing({ store, now: () => clock.now(), adminKey: ADMIN_KEY }),
  })
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  served = {
    ...open,
    ask: (method, path, sent = {}) => open.ask(method, path, { ...sent, headers: { ...headers, ...sent.headers } }),
  }
  document = (await served.ask('GET', '/openapi.json')).json
  taskIds = await oneOfEachStatus()
  replayIds = await someReplays()
  const upload = { headers: { 'content-type': 'application/octet-stream' }, body: Buffer.from('large') }
  bodyRef = (await served.ask('POST', '/bodies', upload)).json.bodyRef
  const body = { level: 'retries-off', scope: { kind: 'all' }, reason: 'fuzz' }
  controlIds = [(await served.ask('POST', '/controls', { body })).json.controlId, taskIds[0]!]
})
afterAll(() => served.close())

async function oneOfEachStatus(): Promise<string[]> {
  const ids: string[] = []
  for (const name of ['pending', 'in-flight', 'succeeded', 'exhausted', 'cancelled']) {
    const body = { ...TASK, targetUrl: `https://${name}.example/` }
    ids.push((await served.ask('POST', '/retry-tasks', { body })).json.taskId)
  }
  const [, inFlight, succeeded, exhausted, cancelled] = ids
  await claim(served, inFlight!)
  await attempt(served, succeeded!, { outcome: { kind: 'success' } })
  await attempt(served, exhausted!, { outcome: { kind: 'failure', fault: 'permanent' }, errorCode: 'http-400' })
  await served.ask('DELETE', `/retry-tasks/${cancelled}`)
  return ids
}

/** Planned, and cancelled; nobody counts or runs them here. */
async function someReplays(): Promise<string[]> {
  const body = { filter: { destination: 'https://exhausted.example' }, ratePerSecond: 10 }
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await served.ask('POST', '/replays', { body })).json.replayId)
  await served.ask('POST', `/replays/${ids[0]}/cancel`)
  return ids
}

interface Request {
  readonly path: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
}

/** What a schema cannot say: an address, names of headers, a policy that exists, instants that are to come. */
function known(): { readonly [name: string]: Arbitrary<unknown> } {
  const now = served.clock.now()
  const later = fc.integer({ min: now + 1, max: now + 1_000_000 })
  const policyId = fc.constantFrom('default', 'payments')
  return {
    targetUrl: fc.webUrl({ withQueryParameters: true }),
    callbackUrl: fc.webUrl(),
    headers: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,5}$/), fc.stringMatching(/^[!-~]{0,10}$/), { maxKeys: 3 }),
    body: fc.string({ unit: 'grapheme' }),
    bodyBase64: fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes).toString('base64')),
    policy: fc.record({ maxAttempts: fc.integer({ min: 2, max: 9 }) }),
    policyId: fc.option(policyId, { nil: 'payments', freq: 3 }),
    notBefore: later,
    deadlineAt: later,
    delayMs: fc.nat(1_000),
    attemptsMade: fc.nat(1),
    elapsedMs: fc.nat(1_000),
    taskId: fc.constantFrom(...taskIds),
    replayId: fc.constantFrom(...replayIds),
    bodyRef: fc.constant(bodyRef),
    // What is drained, or switched off, would refuse what others bring.
    name: fc.constantFrom('https://drained.example', 'https://pending.example.:8080', 'nobody'),
    level: fc.constantFrom('retries-off', 'dispatch-off'),
    scope: fc.constantFrom({ kind: 'all' }, { kind: 'policy', policyId: 'default' }, { kind: 'tenant' }),
    controlId: fc.constantFrom(...controlIds),
    limits: fc.constantFrom({}, { concurrency: 3, rateLimit: { perSecond: 2 } }, { budget: { kind: 'rate' } }),
  }
}

function requestsOf(path: string, operation: Operation, isBroken: boolean): Arbitrary<Request> {
  const parameters = operation.parameters ?? []
  const values = (schema: JsonSchema, name: string): Arbitrary<unknown> => {
    const right = known()[name] ?? valuesOf(schema)
    return isBroken ? fc.oneof(right, fc.string(), fc.constantFrom('', '\0', '%', '-1', '1e9', 'x'.repeat(200))) : right
  }
  const inPath = fc.record(
    Object.fromEntries(
      parameters.filter(each => each.in === 'path').map(({ name, schema }) => [name, values(schema, name)]),
    ),
  )
  const query = parameters.filter(each => each.in === 'query')
  const inQuery = fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, values(schema, name)])), {
    requiredKeys: [],
  })
  const extra = isBroken ? fc.option(fc.tuple(fc.string(), fc.string())) : fc.constant(null)
  return fc.tuple(inPath, inQuery, extra, bodiesOf(operation, isBroken)).map(([names, asked, more, body]) => ({
    path: `${filled(path, names)}${queryOf([...Object.entries(asked), ...(more === null ? [] : [more])])}`,
    ...body,
  }))
}

function bodiesOf({ requestBody }: Operation, isBroken: boolean): Arbitrary<Omit<Request, 'path'>> {
  if (requestBody === undefined) return fc.constant({})
  if (requestBody.content['application/json'] === undefined)
    return fc.uint8Array({ minLength: isBroken ? 0 : 1, maxLength: 50 }).map(bytes => ({
      body: Buffer.from(bytes),
      headers: { 'content-type': 'application/octet-stream' },
    }))
  const { schema } = requestBody.content['application/json']
  const right = valuesOf(resolved(schema, document), known())
  const values = isBroken ? brokenOf(right) : right
  return fc.oneof(
    { weight: 5, arbitrary: values.map(body => ({ body: JSON.stringify(body) ?? 'null' })) },
    { weight: isBroken ? 1 : 0, arbitrary: fc.string().map(body => ({ body })) },
    {
      weight: 'application/x-ndjson' in requestBody.content ? 2 : 0,
      arbitrary: values.map(body => ({
        body: (Array.isArray(body) ? body : [body]).map(line => JSON.stringify(line) ?? '').join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      })),
    },
  )
}

function filled(path: string, names: { readonly [name: string]: unknown }): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(String(names[name]))) || '-')
}

function queryOf(entries: readonly (readonly [string, unknown])[]): string {
  const text = entries.map(entry => entry.map(each => encodeURIComponent(wellFormed(String(each)))).join('=')).join('&')
  return text === '' ? '' : `?${text}`
}

function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

/** No failure of ours, nothing but what the document says. */
function judge(answer: Answered, operation: Operation): void {
  const { status, headers, json, text } = answer
  const said = `${status} ${text.slice(0, 500)}`
  assert.ok(status < 500, said)
  const type = headers['content-type']!.split(';', 1)[0]!
  const described = operation.responses[status]?.content[type]
  assert.ok(described !== undefined, `not described: ${type} ${said}`)
  if (json !== undefined) assert.deepEqual(faultsOf(json, resolved(described.schema, document)), [], said)
}

const OPERATIONS = [
  'submitTask',
  'submitBatch',
  'uploadBody',
  'getBody',
  'listTasks',
  'getTask',
  'cancelTask',
  'listAttempts',
  'attemptNow',
  'replayTask',
  'explainTask',
  'putPolicy',
  'listPolicies',
  'getPolicy',
  'listPolicyVersions',
  'listDeadLetters',
  'listDestinations',
  'getDestination',
  'putDestinationSettings',
  'pauseDestination',
  'resumeDestination',
  'drainDestination',
  'undrainDestination',
  'forceBreaker',
  'createControl',
  'listControls',
  'getControl',
  'getControlState',
  'endControl',
  'getSeries',
  'listen',
  'planReplay',
  'listReplays',
  'getReplay',
  'runReplay',
  'pauseReplay',
  'resumeReplay',
  'cancelReplay',
  'createTenant',
  'listTenants',
  'createKey',
  'listKeys',
  'rotateKey',
  'revokeKey',
  'createSecret',
  'listSecrets',
  'rotateSecret',
  'deleteSecret',
  'listAudit',
  'isAlive',
  'isReady',
  'getMetrics',
  'getOpenApi',
]

describe('every operation', () => {
  it('is asked', () => {
    assert.deepEqual(
      operationsOf(document)
        .map(({ operation }) => operation.operationId)
        .toSorted(),
      OPERATIONS.toSorted(),
    )
  })

  for (const operationId of OPERATIONS)
    for (const isBroken of [false, true])
      it(`${operationId} answers as described when it is asked ${isBroken ? 'wrongly' : 'rightly'}`, async () => {
        const { path, method, operation } = operationsOf(document).find(
          each => each.operation.operationId === operationId,
        )!
        await fc.assert(
          fc.asyncProperty(requestsOf(path, operation, isBroken), async ({ path: asked, ...sent }) => {
            judge(await served.ask(method, asked, sent), operation)
          }),
          { numRuns: RUNS },
        )
      })
})

describe('what was accepted', () => {
  it('can be read back, every field of it', async () => {
    await served.ask('POST', '/retry-policies', { body: { policyId: 'payments' } })
    const input = document.components.schemas['RetryTaskInput']!
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(valuesOf(resolved(input, document), known()).map(withoutContradictions), async body => {
        const answer = await served.ask('POST', '/retry-tasks', { body })
        if (answer.status !== 201) {
          assert.ok([400, 200, 422].includes(answer.status), answer.text)
          return
        }
        accepted++
        const task = (await served.ask('GET', answer.headers.location!)).json
        expectKept(body, task)
      }),
      { numRuns: 300 },
    )
    assert.ok(accepted > 200, `${accepted} of 300`)
  })
})

// oxlint-disable-next-line typescript/no-explicit-any -- any field that a task can have.
type Asked = { readonly [field: string]: any }

/** Of two fields that exclude each other, one. */
function withoutContradictions(value: unknown): Asked {
  const { body, bodyBase64, bodyRef: ref, policyId, policy, delayMs, notBefore, deadlineAt, ...asked } = value as Asked
  const isBodiless = asked['method'] === 'GET' || asked['method'] === 'HEAD'
  const inline = body === undefined ? { bodyBase64 } : { body }
  const bytes = ref === undefined ? inline : { bodyRef: ref }
  const when = delayMs === undefined ? { notBefore } : { delayMs }
  const isTimed = delayMs !== undefined || notBefore !== undefined
  return check.withoutUndefined({
    ...asked,
    ...(!isBodiless && bytes),
    ...(policy === undefined ? { policyId } : { policy }),
    ...when,
    ...(!isTimed && { deadlineAt }),
  })
}

function expectKept(asked: Asked, task: Asked): void {
  const {
    targetUrl,
    method = 'POST',
    headers = {},
    body,
    bodyBase64,
    policyId = 'default',
    policy,
    callbackUrl,
    ...rest
  } = asked
  assert.equal(task['callbackUrl'], callbackUrl === undefined ? undefined : new URL(callbackUrl).href)
  assert.equal(task['targetUrl'], new URL(targetUrl).href)
  assert.equal(task['method'], method)
  // A name may be a secret's by chance.
  const type = rest['bodyRef'] === undefined ? {} : { 'content-type': 'application/octet-stream' }
  assert.deepEqual(sorted(task['headers']), sorted(redactHeaders({ ...type, ...headers })))
  assert.equal(task['bodyRef'], rest['bodyRef'])
  const bytes = body === undefined ? Buffer.from(bodyBase64 ?? '', 'base64') : Buffer.from(body)
  assert.equal(task['bodyBytes'], rest['bodyRef'] === undefined ? bytes.length : 'large'.length)
  if (policy === undefined) assert.equal(task['policyId'], policyId)
  else assert.equal(task['policy'].maxAttempts, policy.maxAttempts)
  const { createdAt } = task as { createdAt: number }
  const waits = rest['notBefore'] ?? (rest['delayMs'] !== undefined ? createdAt + rest['delayMs'] : undefined)
  if (waits !== undefined) assert.equal(task['nextAttemptAt'], waits)
  assert.equal(task['deadlineAt'], rest['deadlineAt'])
  assert.equal(task['attemptNumber'], rest['attemptsMade'] ?? 0)
  assert.equal(task['idempotencyKey'], rest['idempotencyKey'] ?? task['taskId'])
  assert.deepEqual(sorted(task['metadata'] ?? {}), sorted(rest['metadata'] ?? {}))
}

function sorted(texts: object): unknown {
  return Object.entries(texts).toSorted(([left], [right]) => (left < right ? -1 : 1))
}
