import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY, type Outcome } from '@secondwind/resilience'

import { readAnswer, type Telling } from './outcome.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

const answered = (status: number, headers = {}): Telling => ({
  kind: 'answered',
  status,
  headers,
  response: { headers: {}, body: '', bodyEncoding: 'utf8', truncated: false },
})

const failed = (errorCode: string, code: string, unsent = false): Telling => ({
  kind: 'failed',
  error: Object.assign(new Error(errorCode), { code }),
  errorCode,
  errorMessage: 'in a few words',
  unsent,
})

const outcomeOf = (answer: Telling): Outcome => readAnswer(answer, DEFAULT_POLICY, NOW).outcome

const faultOf = (answer: Telling): string => {
  const outcome = outcomeOf(answer)
  return outcome.kind === 'success' ? 'success' : outcome.fault
}

describe('what a target answered', () => {
  it('is a success from 200 to 299, and nothing to follow from 300 to 399', () => {
    for (const status of [200, 201, 204, 299]) assert.equal(faultOf(answered(status)), 'success')
    for (const status of [300, 301, 302, 307, 308]) assert.equal(faultOf(answered(status)), 'permanent')
    const { errorCode, errorMessage } = readAnswer(answered(302), DEFAULT_POLICY, NOW)
    assert.deepEqual([errorCode, errorMessage], ['http-302', 'the target answered 302; redirects are not followed'])
  })

  it('is judged by the library: retryable, throttled with its wait, ambiguous or permanent', () => {
    assert.equal(faultOf(answered(500)), 'transient')
    assert.equal(faultOf(answered(504)), 'ambiguous')
    assert.equal(faultOf(answered(404)), 'permanent')
    assert.deepEqual(outcomeOf(answered(429, { 'retry-after': '7' })), {
      kind: 'failure',
      fault: 'throttled',
      retryAfterMs: 7_000,
    })
    const byDate = outcomeOf(answered(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }))
    assert.deepEqual(byDate, { kind: 'failure', fault: 'throttled', retryAfterMs: 30_000 })
  })
})

describe('a request that failed', () => {
  it('without reaching the server is transient, whatever broke', () => {
    for (const code of ['connect-refused', 'dns-failed', 'tls'])
      assert.equal(faultOf(failed(code, '?', true)), 'transient')
  })

  it('on its way is ambiguous, also if nobody knows the error', () => {
    for (const code of ['ECONNRESET', 'UND_ERR_SOCKET', 'HPE_INVALID_CONSTANT', 'UND_ERR_ABORTED'])
      assert.equal(faultOf(failed('reset', code)), 'ambiguous')
    const aborted = failed('aborted', 'ABORT_ERR') as Extract<Telling, { kind: 'failed' }>
    assert.equal(faultOf({ ...aborted, error: new DOMException('cut', 'AbortError') }), 'ambiguous')
  })

  it('because its address is forbidden is permanent', () => {
    assert.equal(faultOf(failed('target-forbidden', 'target-forbidden', true)), 'permanent')
  })

  it('keeps its code and its few words', () => {
    const { errorCode, errorMessage, responseStatus } = readAnswer(failed('reset', 'ECONNRESET'), DEFAULT_POLICY, NOW)
    assert.deepEqual([errorCode, errorMessage, responseStatus], ['reset', 'in a few words', undefined])
  })
})
