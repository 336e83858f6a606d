import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, it, onTestFinished } from 'vitest'
import type { Budget } from '../budget/budget.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import { expectNoLeaks } from '../testing/index.ts'
import { createFetch } from './index.ts'
import { errorOf, gate, serve, skippingClock, STEADY } from './wire.test-kit.ts'

/** Resolves when `fetch` has read the whole of the next response: from then on its connection is free. */
function responseRead(): Promise<void> {
  return new Promise(resolve => {
    const heard = (): void => {
      diagnostics.unsubscribe('undici:request:trailers', heard)
      resolve()
    }
    diagnostics.subscribe('undici:request:trailers', heard)
  })
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Denies the retry when it is about to begin, after the wait. */
const DENIES_LATE: Budget = { deposit: () => true, covers: () => true, tryWithdraw: () => false, balance: 0 }

const sorry = (response: ServerResponse, body: string): void => {
  response.writeHead(503)
  response.end(body)
}

describe('a failed response that is retried', () => {
  it('is read to its end during the wait, so that its connection serves the next attempt', async () => {
    const { url, connections } = await serve((_, response) => sorry(response, 'x'.repeat(60_000)))
    let read = responseRead()
    const telemetry = ({ kind }: RetryEvent): void => void (kind === 'attempt-started' && (read = responseRead()))
    const clock = skippingClock(() => read)
    const response = await createFetch(STEADY, { ports: { clock }, telemetry })(url)
    assert.equal(historyOf(response)?.attempts, 4)
    assert.equal(connections(), 1)
    assert.equal((await response.text()).length, 60_000)
  })

  it('is read to its end also where fetch takes in nothing that nobody asks for', async () => {
    const isRead = gate()
    let left = 10
    const pull = (controller: ReadableStreamDefaultController): void => {
      controller.enqueue(new Uint8Array(1_000))
      if (--left > 0) return
      controller.close()
      isRead.open()
    }
    const answers = [new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { status: 503 }), new Response()]
    const clock = skippingClock(() => isRead.opened)
    const fetch = createFetch(STEADY, { fetch: async () => answers.shift()!, ports: { clock } })
    assert.equal((await fetch('http://imitated.test')).status, 200)
  })

  it('stays readable, for it is returned after all when the retry is denied in the end', async () => {
    const { url } = await serve((_, response) => sorry(response, 'sorry'.repeat(100)))
    const read = responseRead()
    const response = await createFetch(STEADY, { ports: { clock: skippingClock(() => read) }, budget: DENIES_LATE })(
      url,
    )
    assert.equal(historyOf(response)?.reason, 'budget')
    assert.equal(await response.text(), 'sorry'.repeat(100))
  })

  it('stays readable when the retry is denied before all of it was there', async () => {
    let finish: (() => void) | undefined
    const { url } = await serve((_, response) => {
      response.writeHead(503).write('first half, ')
      finish = () => void response.end('second half'.repeat(10_000))
    })
    const response = await createFetch(STEADY, { ports: { clock: skippingClock() }, budget: DENIES_LATE })(url)
    assert.equal(historyOf(response)?.reason, 'budget')
    finish!()
    // Nothing reads on behind the back of the caller, who takes a while.
    for (let turns = 0; turns < 20; turns++) await turn()
    assert.equal(await response.text(), `first half, ${'second half'.repeat(10_000)}`)
  })

  for (const [kind, announce] of [
    ['announced', true],
    ['not announced', false],
  ] as const)
    it(`is cancelled when it is longer than 64 KiB, before the wait is over: ${kind}`, async () => {
      const closed = gate()
      let attempts = 0
      const { url } = await serve((_, response) => {
        if (++attempts > 1) return void response.end('fine')
        response.on('close', closed.open)
        response.writeHead(503, announce ? { 'content-length': 10_000_000 } : {})
        return void response.write('x'.repeat(announce ? 10 : 200_000))
      })
      await expectNoLeaks(async () => {
        const clock = skippingClock(() => closed.opened)
        const response = await createFetch(STEADY, { ports: { clock } })(url)
        assert.equal(await response.text(), 'fine')
      })
    })

  it('does not hold its connection for ever when it never ends: the next attempt cancels it', async () => {
    const closed: Promise<unknown>[] = []
    const { url } = await serve((_, response) => {
      if (closed.length === 2) return void response.end('fine')
      closed.push(once(response, 'close'))
      return void response.writeHead(503).write('and so on')
    })
    await expectNoLeaks(async () => {
      const response = await createFetch(STEADY, { ports: { clock: skippingClock() } })(url)
      assert.equal(await response.text(), 'fine')
      await Promise.all(closed)
    })
  })

  it('is let go when the caller aborts during the wait', async () => {
    const closed = gate()
    const { url } = await serve((_, response) => {
      response.on('close', closed.open)
      response.writeHead(503).write('and so on')
    })
    await expectNoLeaks(async check => {
      const controller = check.controller()
      const waiting = gate()
      const clock = skippingClock(() => (waiting.open(), new Promise(() => {})))
      const error = errorOf(createFetch(STEADY, { ports: { clock } })(url, { signal: controller.signal }))
      await waiting.opened
      controller.abort(new Error('enough'))
      assert.match(String(await error), /enough/)
      await closed.opened
    })
  })

  it('is left to an observer who has begun to read it', async () => {
    let attempts = 0
    const { url } = await serve((_, response) => (++attempts > 1 ? response.end('fine') : sorry(response, 'sorry')))
    const read: Promise<string>[] = []
    const response = await createFetch(STEADY, {
      ports: { clock: skippingClock(() => read[0]!) },
      telemetry: event => {
        if (event.kind === 'attempt-ended' && event.error instanceof Response) read.push(event.error.text())
      },
    })(url)
    assert.equal(await response.text(), 'fine')
    assert.deepEqual(await Promise.all(read), ['sorry'])
  })

  it('may be an imitation without a body, as in many tests', async () => {
    const answers = [
      { status: 503, headers: new Map() },
      { status: 200, headers: new Map() },
    ]
    const imitation = async (): Promise<Response> => answers.shift() as unknown as Response
    const { signal } = new AbortController()
    const fetch = createFetch(STEADY, { fetch: imitation, ports: { clock: skippingClock() } })
    onTestFinished(() => assert.equal(answers.length, 0))
    assert.equal((await fetch('http://imitated.test', { signal })).status, 200)
  })

  it('may have a body that is no web stream, and is let go through its signal', async () => {
    const signals: AbortSignal[] = []
    const imitation = async (_: unknown, { signal }: RequestInit = {}): Promise<Response> =>
      ({ status: signals.push(signal!) === 1 ? 503 : 200, headers: new Headers(), body: {} }) as Response
    await createFetch(STEADY, { fetch: imitation, ports: { clock: skippingClock() } })('http://imitated.test')
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true, false],
    )
  })
})
