import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { describeHistory } from './history.ts'
import { reset } from './scripted.test-kit.ts'

describe('a history', () => {
  it('describes what is telling in an error: its status, its code or its cause, and what is unknown', () => {
    const described = (error: unknown, unknown = false): string => {
      const failure = {
        attempt: 1,
        durationMs: 1,
        fault: 'transient',
        error,
        returned: false,
        retryAfterMs: undefined,
        unknown,
      } as const
      return describeHistory({ reason: 'attempts', attempts: 1, elapsedMs: 1, failures: [failure] })
    }
    assert.match(described({ response: { status: 503 } }), /: HTTP 503 \(/)
    const response = new Response('', { status: 502 })
    assert.match(described(new Error(response.statusText, { cause: response })), /: HTTP 502 \(/)
    assert.match(described(new TypeError('fetch failed', { cause: reset() })), /: ECONNRESET \(/)
    assert.match(described(new DOMException('too slow', 'TimeoutError')), /: TimeoutError: too slow \(/)
    assert.match(
      described(new Error('odd'), true),
      /: Error: odd \(stopped: attempts; an error without .* \{ cause: response \}/,
    )
    assert.match(described('just a text'), /: just a text \(/)
  })
})
