import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { attemptHeaders, classifyResponse, mayRepeat, onceBecause, sayWithheld, type Repetition } from './decide.ts'

const call = (over: Partial<Repetition>): Repetition => ({
  method: 'POST',
  hasKey: false,
  idempotent: undefined,
  maxAttempts: 3,
  ...over,
})

describe('what may be repeated', () => {
  it('repeats GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and no other method', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
      assert.equal(mayRepeat(call({ method })), true, method)
    for (const method of ['POST', 'PATCH', 'CONNECT', 'PROPPATCH'])
      assert.equal(mayRepeat(call({ method })), false, method)
  })

  it('repeats any method with an idempotency key, or on the word of the caller', () => {
    assert.equal(mayRepeat(call({ hasKey: true })), true)
    assert.equal(mayRepeat(call({ idempotent: true })), true)
  })

  it('repeats nothing where the policy has one attempt', () => {
    assert.equal(mayRepeat(call({ method: 'GET', maxAttempts: 1 })), false)
  })

  it('takes the word of the caller that a call must not be repeated, whatever its method and key', () => {
    assert.equal(mayRepeat(call({ method: 'GET', idempotent: false })), false)
    assert.equal(mayRepeat(call({ hasKey: true, idempotent: false })), false)
  })

  it('says that a call is made once because it is not idempotent, or else because its body is a stream', () => {
    assert.equal(onceBecause(call({}), false), 'not-idempotent')
    assert.equal(onceBecause(call({}), true), 'not-replayable')
    assert.equal(onceBecause(call({ hasKey: true }), false), undefined)
  })

  it('needs no reason for one attempt where the policy has only one', () => {
    assert.equal(onceBecause(call({ maxAttempts: 1 }), true), undefined)
  })

  it('names the three ways out when a retry was withheld', () => {
    const message = sayWithheld('POST', 'https://api.example.com')
    assert.match(message, /^POST https:\/\/api\.example\.com failed and was not retried/)
    for (const way of ['idempotencyKey: true', 'idempotent: true', 'maxAttempts: 1']) assert.ok(message.includes(way))
  })
})

describe('what a response means', () => {
  const statuses = [429, 503]
  const outcome = (status: number, headers: { readonly [name: string]: string } = {}): unknown =>
    classifyResponse({ status, headers }, statuses, 0)

  it('takes 1xx, 2xx and 3xx for success, and the status 0 of a response that may not be looked into', () => {
    for (const status of [0, 200, 204, 304]) assert.deepEqual(outcome(status), { kind: 'success' })
  })

  it('takes 400 for permanent, and retries even a 202 where the policy says so', () => {
    assert.deepEqual(outcome(400), { kind: 'failure', fault: 'permanent' })
    assert.deepEqual(classifyResponse({ status: 202, headers: {} }, [202], 0), { kind: 'failure', fault: 'transient' })
  })

  it('takes a status outside of the policy for permanent, whatever wait it names', () => {
    assert.deepEqual(outcome(404, { 'retry-after': '1' }), { kind: 'failure', fault: 'permanent' })
    assert.deepEqual(outcome(500), { kind: 'failure', fault: 'permanent' })
  })

  it('reads the wait that a retryable response asks for', () => {
    const asked = outcome(503, { 'retry-after': '2' })
    assert.deepEqual(asked, { kind: 'failure', fault: 'throttled', retryAfterMs: 2_000 })
  })
})

describe('what an attempt says of itself', () => {
  it('is its number, and the time that is left for it', () => {
    assert.deepEqual(attemptHeaders({ attempt: 2, remainingMs: 99.5 }), { 'retry-attempt': '2', 'x-timeout-ms': '100' })
  })
})
