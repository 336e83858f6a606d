import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { beforeEach, describe, it, vi } from 'vitest'
import { currentDeadline } from '../context/index.ts'
import { gate } from '../fetch/wire.test-kit.ts'
import { historyOf } from '../retry/history.ts'
import { retry } from '../retry/run.ts'
import { reset } from '../retry/scripted.test-kit.ts'
import { virtualClock } from '../testing/index.ts'
import { createAdmission, type Arrival } from './index.ts'
import { FRAMEWORKS } from './servers.test-kit.ts'

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue())

const ONE_AT_A_TIME = { bulkhead: { limit: 1, maxQueued: 1 } }

/** Resolves as soon as the claim holds; the sockets of a test take their own time. */
async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise(resolve => setImmediate(resolve))
}

for (const [framework, start] of Object.entries(FRAMEWORKS))
  describe(`an admission before ${framework}`, () => {
    it('gives each request the deadline that its caller sent, less the reserve', async () => {
      const clock = virtualClock()
      const { url } = await start(({ deadline }) => String(deadline?.remainingMs), { ports: { clock } })
      const headers = { 'x-timeout-ms': '500' }
      assert.equal(await (await fetch(url, { headers })).text(), '490')
      assert.equal(await (await fetch(url)).text(), 'undefined')
    })

    it('keeps the deadline in the context of the handler, also behind a body that was parsed', async () => {
      const clock = virtualClock()
      const handle = async (): Promise<string> => {
        await new Promise(resolve => setImmediate(resolve))
        return String(currentDeadline()?.remainingMs)
      }
      const { url } = await start(handle, { ports: { clock } })
      const headers = { 'grpc-timeout': '300m', 'content-type': 'application/json' }
      const body = JSON.stringify({ long: 'x'.repeat(200_000).slice(0, 90_000) })
      assert.equal(await (await fetch(url, { headers })).text(), '290')
      assert.equal(await (await fetch(url, { method: 'POST', headers, body })).text(), '290')
    })

    it('refuses a request whose deadline has passed with 504, unworked', async () => {
      let worked = 0
      const { url } = await start(() => String(++worked))
      const response = await fetch(url, { headers: { 'x-deadline-unix-ms': '1000' } })
      assert.equal(response.status, 504)
      assert.match(response.headers.get('content-type')!, /^application\/problem\+json/)
      assert.equal(((await response.json()) as { code: string }).code, 'deadline')
      assert.equal(worked, 0)
    })

    it('lets in so many, has so many wait, and sheds the others with 503 and Retry-After', async () => {
      const hold = gate()
      const random = (): number => 0.25
      const handle = async (_: unknown, path: string): Promise<string> => {
        await hold.opened
        return path
      }
      const { url, admission } = await start(handle, { ...ONE_AT_A_TIME, ports: { random } })
      const first = fetch(`${url}/first`)
      await until(() => admission.running === 1)
      const second = fetch(`${url}/second`)
      await until(() => admission.queued === 1)
      const shed = await fetch(`${url}/third`)
      assert.deepEqual(
        [shed.status, shed.headers.get('retry-after'), shed.headers.get('retry-after-ms')],
        [503, '2', '1250'],
      )
      assert.equal(((await shed.json()) as { code: string }).code, 'throttled')
      hold.open()
      assert.deepEqual([await (await first).text(), await (await second).text()], ['/first', '/second'])
      await until(() => admission.running === 0)
    })

    it('gives back the place of a caller that goes away, inside and in the queue, and tells the handler', async () => {
      const hold = gate()
      const reasons: unknown[] = []
      const handle = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> => {
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).message))
        await hold.opened
        return 'late'
      }
      const { url, admission } = await start(handle, ONE_AT_A_TIME)
      const [one, two] = [new AbortController(), new AbortController()]
      const first = fetch(url, { signal: one.signal }).catch(() => {})
      await until(() => admission.running === 1)
      const second = fetch(url, { signal: two.signal }).catch(() => {})
      await until(() => admission.queued === 1)
      two.abort()
      await until(() => admission.queued === 0)
      one.abort()
      await until(() => admission.running === 0)
      await Promise.all([first, second])
      assert.deepEqual(reasons, ['the caller of the request went away'])
      hold.open()
    })

    it('begins nothing for a caller that left while an earlier middleware waited, and holds no place', async () => {
      const worked: string[] = []
      const arrived = gate()
      const before = async (request: IncomingMessage): Promise<void> => {
        if (request.url !== '/left') return
        arrived.open()
        await once(request.socket, 'close')
      }
      const handle = (_: unknown, path: string): string => String(worked.push(path))
      const { url, admission } = await start(handle, { bulkhead: { limit: 1, maxQueued: 0 } }, before)
      const caller = new AbortController()
      const left = fetch(`${url}/left`, { signal: caller.signal }).catch(() => {})
      await arrived.opened
      caller.abort()
      await left
      assert.equal((await fetch(`${url}/next`)).status, 200)
      await until(() => admission.running === 0)
      assert.deepEqual(worked, ['/next'])
    })

    it('has a signal that is aborted also for a handler that first reads it when its caller has gone', async () => {
      const gone = gate()
      const reasons: unknown[] = []
      const handle = async (arrival: Arrival): Promise<string> => {
        await gone.opened
        reasons.push((arrival.signal.reason as Error).message, clock.pending)
        return 'late'
      }
      const clock = virtualClock()
      const { url, admission } = await start(handle, { ...ONE_AT_A_TIME, ports: { clock } })
      const caller = new AbortController()
      const headers = { 'x-timeout-ms': '500' }
      const left = fetch(url, { signal: caller.signal, headers }).catch(() => {})
      await until(() => admission.running === 1)
      caller.abort()
      await left
      await until(() => admission.running === 0)
      gone.open()
      await until(() => reasons.length > 0)
      assert.deepEqual(reasons, ['the caller of the request went away', 0])
    })

    it('aborts the signal of a handler at the deadline', async () => {
      const clock = virtualClock()
      const begun = gate()
      const handle = ({ signal }: { readonly signal: AbortSignal }): Promise<string> =>
        new Promise(resolve => {
          signal.addEventListener('abort', () => resolve((signal.reason as { code: string }).code))
          begun.open()
        })
      const { url } = await start(handle, { ports: { clock } })
      const answer = fetch(url, { headers: { 'x-timeout-ms': '200' } })
      await begun.opened
      await clock.advance(190)
      assert.equal(await (await answer).text(), 'deadline')
      assert.equal(clock.pending, 0)
    })

    it('leaves no alarm behind when a request ends before its deadline', async () => {
      const clock = virtualClock()
      const { url, admission } = await start(({ signal }) => String(signal.aborted), {
        ...ONE_AT_A_TIME,
        ports: { clock },
      })
      assert.equal(await (await fetch(url, { headers: { 'x-timeout-ms': '200' } })).text(), 'false')
      await until(() => admission.running === 0)
      assert.equal(clock.pending, 0)
    })

    it('sheds who has waited too long, or past the deadline', async () => {
      const clock = virtualClock()
      const hold = gate()
      const { url, admission } = await start(() => hold.opened.then(() => 'done'), {
        bulkhead: { limit: 1, maxQueued: 2, maxWaitMs: 400 },
        ports: { clock },
      })
      const first = fetch(url)
      await until(() => admission.running === 1)
      const waiting = [fetch(url), fetch(url, { headers: { 'x-timeout-ms': '110' } })]
      await until(() => admission.queued === 2)
      await clock.advance(100)
      assert.equal((await waiting[1]!).status, 504)
      await clock.advance(300)
      assert.equal((await waiting[0]!).status, 503)
      hold.open()
      await first
    })

    it('lets exempted requests pass, whatever the load', async () => {
      const hold = gate()
      const { url, admission } = await start(
        (_, path) => (path === '/health' ? 'well' : hold.opened.then(() => 'done')),
        {
          bulkhead: { limit: 1, maxQueued: 0 },
          exempt: ({ url }) => url === '/health',
        },
      )
      const first = fetch(url)
      await until(() => admission.running === 1)
      const headers = { 'x-timeout-ms': '0' }
      assert.equal(await (await fetch(`${url}/health`, { headers })).text(), 'well')
      assert.equal((await fetch(url)).status, 503)
      hold.open()
      await first
    })

    it('has operations make one attempt for a caller that retries already', async () => {
      const attempts: number[] = []
      const handle = (): Promise<string> => {
        let made = 0
        const policy = { maxAttempts: 2, initialDelayMs: 1, jitterType: 'NONE' } as const
        const work = (): never => {
          made++
          throw reset()
        }
        return retry(work, policy, { budget: false, telemetry: () => {} }).catch((error: unknown) => {
          attempts.push(made)
          return historyOf(error)!.reason
        })
      }
      const { url } = await start(handle)
      assert.equal(await (await fetch(url, { headers: { 'retry-attempt': '1' } })).text(), 'attempts')
      assert.equal(await (await fetch(url, { headers: { 'retry-attempt': '2' } })).text(), 'nested')
      assert.deepEqual(attempts, [2, 1])
    })
  })

describe('pipelined requests', () => {
  it('all give back their places when their connection is lost', async () => {
    const handle = (): Promise<string> => new Promise(() => {})
    const { url, admission } = await FRAMEWORKS['node:http']!(handle, { bulkhead: { limit: 2 } })
    const { hostname, port } = new URL(url)
    const caller = connect(Number(port), hostname)
    caller.write('GET / HTTP/1.1\r\nhost: test\r\n\r\n'.repeat(3))
    await until(() => admission.running === 2 && admission.queued === 1)
    caller.destroy()
    await until(() => admission.running === 0)
    assert.equal(admission.queued, 0)
  })
})

describe('createAdmission', () => {
  it('refuses what it cannot keep', () => {
    assert.throws(() => createAdmission({ bulkhead: { limit: 0 } }), /bulkhead\.limit must be/)
  })

  it('without a limit has an endless one', () => {
    const { limit, running, queued } = createAdmission()
    assert.deepEqual([limit, running, queued], [Infinity, 0, 0])
  })
})
