import assert from 'node:assert/strict'
import { get } from 'node:http'
import { describe, it } from 'vitest'
import { leakCheck } from './leak-check.ts'
import type { ScriptedAnswer } from './script.ts'
import { scriptedServer, type ListeningServer, type ScriptedServer } from './scripted-server.ts'
import { virtualClock } from './virtual-clock.ts'

interface NetworkError extends TypeError {
  readonly cause: Error & { readonly code: string }
}

const caught = (error: unknown): NetworkError => error as NetworkError

function breakingOff(ending: 'reset' | 'hang', answer: ScriptedAnswer = {}): ScriptedAnswer {
  return { ...answer, ending }
}

describe('the fetch of a scripted server', () => {
  it('answers request after request from its script, and repeats the last entry', async () => {
    const { fetch } = scriptedServer(['503 retry-after=1', '200 {"ok":true}'])
    const first = await fetch('http://any.test/')
    assert.deepEqual([first.status, first.headers.get('retry-after')], [503, '1'])
    for (let n = 0; n < 2; n++) {
      const next = await fetch('http://any.test/')
      assert.deepEqual([next.status, await next.json()], [200, { ok: true }])
    }
  })

  it('answers with whenDone after its script, where there is one', async () => {
    const { fetch } = scriptedServer(['200'], { whenDone: '410' })
    const statuses = [await fetch('/'), await fetch('/'), await fetch('/')].map(({ status }) => status)
    assert.deepEqual(statuses, [200, 410, 410])
  })

  it('records what it was asked, and when', async () => {
    const clock = virtualClock()
    const { fetch, requests } = scriptedServer(['200'], { clock })
    await fetch('http://any.test/a?b=1')
    await clock.advance(250)
    await fetch(new Request('http://any.test/c', { method: 'PUT', headers: { 'X-Key': 'k' }, body: 'text' }))
    await fetch(new URL('http://any.test/d'), { method: 'POST', body: new URLSearchParams({ e: '2' }) })
    assert.deepEqual(requests, [
      { method: 'GET', path: '/a?b=1', headers: {}, body: '', at: 0 },
      {
        method: 'PUT',
        path: '/c',
        headers: { 'x-key': 'k', 'content-type': 'text/plain;charset=UTF-8' },
        body: 'text',
        at: 250,
      },
      {
        method: 'POST',
        path: '/d',
        headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
        body: 'e=2',
        at: 250,
      },
    ])
  })

  it('gives real responses: bytes arrive as they are, and HEAD has no body', async () => {
    const { fetch } = scriptedServer([{ status: 201, body: new Uint8Array([0, 255]) }])
    const response = await fetch('/')
    assert.ok(response instanceof Response)
    assert.deepEqual(new Uint8Array(await response.arrayBuffer()), new Uint8Array([0, 255]))
    assert.equal((await fetch('/', { method: 'HEAD' })).body, null)
    const broken = scriptedServer([breakingOff('hang', { status: 200 })])
    assert.equal((await broken.fetch('/', { method: 'HEAD' })).body, null)
  })

  it('loses a connection the way Node does: a TypeError whose cause has the code', async () => {
    const { fetch } = scriptedServer(['reset'])
    const error = await fetch('/').catch(caught)
    assert.ok(error instanceof TypeError)
    assert.deepEqual([error.message, error.cause.code], ['fetch failed', 'ECONNRESET'])
  })

  it('is slow on its clock, not on ours', async () => {
    const clock = virtualClock()
    const { fetch } = scriptedServer(['slow 200ms 204'], { clock })
    const answeredAt = fetch('/').then(() => clock.monotonic())
    await clock.drain()
    assert.equal(await answeredAt, 200)
  })

  it('can break off in the middle of a body, after what there was of it', async () => {
    const { fetch } = scriptedServer([
      breakingOff('reset', { status: 206, body: 'half' }),
      breakingOff('reset', { status: 200 }),
    ])
    const response = await fetch('/')
    assert.equal(response.status, 206)
    const reader = response.body!.getReader()
    assert.equal(new TextDecoder().decode((await reader.read()).value), 'half')
    const error = await reader.read().catch(caught)
    assert.deepEqual(
      [error instanceof TypeError && error.message, (error as NetworkError).cause.code],
      ['terminated', 'ECONNRESET'],
    )
    await assert.rejects(async () => (await fetch('/')).text(), { message: 'terminated' })
  })
})

describe('the signal of a scripted fetch', () => {
  const clock = virtualClock()

  it('that has aborted already keeps the request from being made', async () => {
    const { fetch, requests } = scriptedServer(['200'])
    const signal = AbortSignal.abort(new Error('before'))
    await assert.rejects(fetch('/', { signal }), /before/)
    await assert.rejects(fetch(new Request('http://any.test/', { signal })), /before/)
    assert.equal(requests.length, 0)
  })

  it('that aborts while the request is being sent keeps it from being answered', async () => {
    const { fetch, requests } = scriptedServer(['200'])
    const controller = new AbortController()
    const answer = fetch('/', { signal: controller.signal, method: 'POST', body: 'text' })
    controller.abort(new Error('changed my mind'))
    await assert.rejects(answer, /changed my mind/)
    assert.equal(requests.length, 0)
  })

  for (const line of ['slow 1000ms 200', 'hang'])
    it(`ends '${line}' at once, with its reason, and nobody listens to it any more`, async () => {
      const check = leakCheck({ clock })
      const { fetch } = scriptedServer([line], { clock })
      const controller = check.controller()
      const answer = fetch('/', { signal: controller.signal }).catch(caught)
      await clock.advance(10)
      controller.abort(new Error('enough'))
      assert.equal(((await answer) as Error).message, 'enough')
      assert.deepEqual(await check.finish(), [])
    })

  it('ends a body that hangs, with its reason', async () => {
    const check = leakCheck()
    const { fetch } = scriptedServer([breakingOff('hang', { body: 'half' })])
    const controller = check.controller()
    const text = (await fetch('/', { signal: controller.signal })).text().catch(caught)
    await clock.advance(0)
    controller.abort(new Error('enough'))
    assert.equal(((await text) as Error).message, 'enough')
    assert.deepEqual(await check.finish(), [])
  })

  it('is let go when the response is answered, or its body cancelled', async () => {
    const check = leakCheck()
    const { fetch } = scriptedServer(['200 text', breakingOff('hang', { body: 'half' })])
    const { signal } = check.controller()
    await fetch('/', { signal })
    const hanging = await fetch('/', { signal })
    await hanging.body?.cancel()
    assert.deepEqual(await check.finish(), [])
  })
})

describe('a listening scripted server', () => {
  it('plays the same script behind a real socket, and records the same', async () => {
    await listening(['503 retry-after=1', '200 {"ok":true}'], async ({ url }, { requests }) => {
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      const first = await fetch(`${url}/a?b=1`, { method: 'POST', body: 'grüße', headers: { 'x-key': 'k' } })
      assert.deepEqual([first.status, first.headers.get('retry-after'), await first.text()], [503, '1', ''])
      assert.deepEqual(await (await fetch(url)).json(), { ok: true })
      const { method, path, headers, body } = requests[0]!
      assert.deepEqual([method, path, headers['x-key'], body], ['POST', '/a?b=1', 'k', 'grüße'])
      assert.equal(requests.length, 2)
    })
  })

  it('resets a connection for real', async () => {
    await listening(['reset'], async ({ url }) => {
      const error = await fetch(url).catch(caught)
      assert.ok(error instanceof TypeError)
      assert.equal(error.cause.code, 'ECONNRESET')
    })
  })

  it('delays on its clock', async () => {
    const clock = virtualClock()
    await listening(
      ['slow 60000ms 200 late'],
      async ({ url }, { requests }) => {
        const answer = fetch(url)
        while (clock.pending === 0) await clock.advance(0)
        await clock.advance(60_000)
        assert.equal(await (await answer).text(), 'late')
        assert.equal(requests[0]?.at, 0)
      },
      clock,
    )
  })

  it('breaks off in the middle of a body', async () => {
    await listening(
      [breakingOff('reset', { body: 'half' }), breakingOff('reset', { status: 200 })],
      async ({ url }) => {
        for (const expected of ['half', '']) {
          const response = await fetch(url)
          assert.equal(response.status, 200)
          assert.deepEqual(await readUntilLost(response), expected)
        }
      },
    )
  })

  it('ends every connection when it is closed: those that hang, those that are slow, and the idle ones', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['200', 'hang', 'slow 1000ms 200', breakingOff('hang', { body: 'half' })], { clock })
    const { url, close } = await server.listen()
    await (await fetch(url)).text()
    const lost = [lostConnection(url), lostConnection(url)]
    while (server.requests.length < 3 || clock.pending === 0) await clock.advance(0)
    const half = await fetch(url)
    await close()
    await close()
    assert.deepEqual(await Promise.all(lost), ['ECONNRESET', 'ECONNRESET'])
    assert.equal(await readUntilLost(half), 'half')
    while (clock.pending > 0) await clock.advance(0)
    const refused = await fetch(url).catch(caught)
    assert.equal((refused as NetworkError).cause.code, 'ECONNREFUSED')
  })

  it('forgets a delay when the client hangs up', async () => {
    const clock = virtualClock()
    await listening(
      ['slow 1000ms 200'],
      async ({ url }) => {
        const controller = new AbortController()
        const answer = fetch(url, { signal: controller.signal }).catch(caught)
        while (clock.pending === 0) await clock.advance(0)
        controller.abort(new Error('enough'))
        assert.equal(((await answer) as Error).message, 'enough')
        while (clock.pending > 0) await clock.advance(0)
      },
      clock,
    )
  })

  async function listening(
    script: readonly (string | ScriptedAnswer)[],
    use: (listening: ListeningServer, server: ScriptedServer) => Promise<void>,
    clock = virtualClock(),
  ): Promise<void> {
    const server = scriptedServer(script, { clock })
    const open = await server.listen()
    try {
      await use(open, server)
    } finally {
      await open.close()
    }
  }

  /** What of the body arrived before the connection was lost. */
  async function readUntilLost(response: Response): Promise<string> {
    const reader = response.body!.getReader()
    let text = ''
    for (;;) {
      const part = await reader.read().catch(caught)
      if (part instanceof TypeError) return text
      assert.equal(part.done, false, 'the body came to an end')
      text += new TextDecoder().decode(part.value)
    }
  }

  function lostConnection(url: string): Promise<string | undefined> {
    return new Promise(resolve => {
      get(url).on('error', (error: Error & { code?: string }) => resolve(error.code))
    })
  }
})
