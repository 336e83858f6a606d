import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, it, onTestFinished, vi } from 'vitest'
import { createFetch, type RetryingFetch } from '../fetch/index.ts'
import { gate, listening, serve } from '../fetch/wire.test-kit.ts'
import { forgetWarnings } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { createAdmission, type Admission, type AdmissionOptions } from './index.ts'

beforeEach(() => {
  forgetWarnings()
  vi.spyOn(console, 'warn').mockReturnValue()
})

const QUICK: RetryPolicyInput = { maxAttempts: 3, initialDelayMs: 1, jitterType: 'NONE' }

/** A tier with the middleware, which passes each request on to `backend` with retries of its own. */
async function middleTier(
  backend: string,
  options: AdmissionOptions = {},
): Promise<{ readonly url: string; readonly admission: Admission; readonly reasons: unknown[] }> {
  const fetch = createFetch(QUICK, { budget: false })
  const reasons: unknown[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const answer = await fetch(backend + request.url)
      if (!answer.ok) reasons.push(historyOf(answer)?.reason)
      response.writeHead(answer.status).end(await answer.text())
    } catch (error) {
      reasons.push(historyOf(error)?.reason)
      response.writeHead(502).end()
    }
  }
  const admission = createAdmission(options)
  const server = createServer(admission.http((request, response) => void pass(request, response)))
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, admission, reasons }
}

function client(policy: RetryPolicyInput = QUICK): RetryingFetch {
  return createFetch(policy, { budget: false })
}

describe('two tiers that retry', () => {
  it('do not multiply: a call that its caller makes again is made once further in', async () => {
    const backend = await listening('503')
    const { url, reasons } = await middleTier(backend.url)
    const response = await client()(url)
    assert.equal(response.status, 503)
    // Three by the middle tier while the caller makes its first attempt, then one for each further attempt; not nine.
    assert.equal(backend.requests.length, 5)
    assert.deepEqual(reasons, ['attempts', 'nested', 'nested'])
  })

  it('hand the deadline on, shorter at every hop', async () => {
    const backend = await listening('200')
    const { url } = await middleTier(backend.url)
    await client({ ...QUICK, attemptTimeoutMs: 2_000 })(url)
    const sent = Number(backend.requests[0]!.headers['x-timeout-ms'])
    assert.ok(sent <= 1_990 && sent > 0, String(sent))
  })

  it('end in time: the inner one gives up while its answer can still arrive', async () => {
    const backend = await listening('hang')
    const { url, reasons } = await middleTier(backend.url, { reserveMs: 1_900 })
    const response = await client({ maxAttempts: 1, attemptTimeoutMs: 2_000 })(url)
    assert.equal(response.status, 502)
    assert.deepEqual([reasons, backend.requests.length], [['deadline'], 1])
  })

  it('shed what there is no room for: the caller waits as told, and is served when there is room', async () => {
    const hold = gate()
    const backend = await serve((_, response) => void hold.opened.then(() => response.end('served')))
    const busy = await middleTier(backend.url, { bulkhead: { limit: 1, maxQueued: 0 }, retryAfterMs: 20 })
    const first = client()(busy.url)
    while (busy.admission.running === 0) await new Promise(resolve => setImmediate(resolve))
    const waits: number[] = []
    const impatient = createFetch(QUICK, {
      budget: false,
      telemetry: event => {
        if (event.kind !== 'retry-scheduled') return
        waits.push(event.delayMs)
        hold.open()
      },
    })
    const second = await impatient(busy.url)
    assert.deepEqual([(await first).status, second.status], [200, 200])
    assert.ok(waits[0]! >= 20, String(waits))
  })
})
