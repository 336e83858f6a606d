import assert from 'node:assert/strict'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'vitest'
import { countedController } from '../testing/counted-signal.ts'
import type { RetryEvent } from '../ports/telemetry.ts'
import { expectNoLeaks, scriptedServer } from '../testing/index.ts'
import { createFetch } from './index.ts'
import { errorOf, gate, listening, serve, skippingClock, STEADY } from './wire.test-kit.ts'

v8.setFlagsFromString('--expose-gc')
const collectGarbage = vm.runInNewContext('gc') as () => void

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Finalizers run when the engine pleases; here it is asked until it did. */
async function collectedUntil(done: () => boolean): Promise<void> {
  for (let round = 0; round < 50 && !done(); round++) {
    collectGarbage()
    await nextTurn()
  }
  assert.ok(done(), 'still held after 50 collections')
}

/** A server whose body begins at once and ends when the test says so. */
async function slowBody(): Promise<{ url: string; responses: ServerResponse[] }> {
  const responses: ServerResponse[] = []
  const { url } = await serve((_, response) => {
    responses.push(response)
    response.write('begun, ')
  })
  return { url, responses }
}

describe('the signal of the caller', () => {
  it('aborts before the first attempt: nothing is sent', async () => {
    const { url, requests } = await listening('200')
    const error = await errorOf(createFetch()(url, { signal: AbortSignal.abort(new Error('enough')) }))
    assert.match(String(error), /enough/)
    assert.equal(requests.length, 0)
  })

  it('aborts an attempt under way, with its own reason, and the server sees it', async () => {
    const gone = gate()
    const arrived = gate()
    const { url } = await serve((request, response) => {
      response.on('close', gone.open)
      arrived.open()
      request.resume()
    })
    await expectNoLeaks(async check => {
      const controller = check.controller()
      const error = errorOf(createFetch(STEADY)(url, { signal: controller.signal }))
      await arrived.opened
      controller.abort(new Error('enough'))
      assert.match(String(await error), /^Error: enough/)
      await gone.opened
    })
  })

  it('aborts the reading of a body, as with fetch itself', async () => {
    const { url } = await slowBody()
    const controller = new AbortController()
    const response = await createFetch()(url, { signal: controller.signal })
    const error = errorOf(response.text())
    controller.abort(new Error('enough'))
    assert.match(String(await error), /^Error: enough/)
  })

  it('aborts the body of a failed response that was returned in the end, read through a copy before', async () => {
    const { url } = await serve((_, response) => void response.writeHead(503).write('begun, '))
    const controller = new AbortController()
    const clock = skippingClock()
    const response = await createFetch({ ...STEADY, maxAttempts: 2 }, { ports: { clock } })(url, {
      signal: controller.signal,
    })
    const error = errorOf(response.text())
    controller.abort(new Error('enough'))
    assert.match(String(await error), /^Error: enough/)
  })

  it('aborts a body that is read as a stream, though nobody holds the response any more', async () => {
    const { url } = await slowBody()
    const controller = new AbortController()
    const reader = await createFetch()(url, { signal: controller.signal }).then(({ body }) => body!.getReader())
    await reader.read()
    const error = errorOf(reader.read())
    for (let round = 0; round < 5; round++) await nextTurn().then(collectGarbage)
    controller.abort(new Error('enough'))
    assert.match(String(await error), /^Error: enough/)
  })

  it('aborts a copy of the response too', async () => {
    const { url } = await slowBody()
    const controller = new AbortController()
    const response = await createFetch()(url, { signal: controller.signal })
    const errors = [errorOf(response.clone().text()), errorOf(response.text())]
    controller.abort(new Error('enough'))
    for (const error of errors) assert.match(String(await error), /^Error: enough/)
  })

  it('that aborts between the answer and its reading is heard', async () => {
    const { url } = await slowBody()
    const controller = new AbortController()
    const telemetry = ({ kind }: RetryEvent): void => {
      // The operation has let go of the signal by then, and the caller has not got the response yet.
      if (kind === 'attempt-ended') void Promise.resolve().then(() => controller.abort(new Error('enough')))
    }
    const response = await createFetch({}, { telemetry })(url, { signal: controller.signal })
    assert.match(String(await errorOf(response.text())), /^Error: enough/)
  })
})

describe('a long-lived signal', () => {
  it('has no listener after a thousand calls whose bodies were read, however they were read', async () => {
    const { url } = await listening('200 {"ok":true}')
    const counted = countedController()
    const { controller } = counted
    const retrying = createFetch()
    const readings = ['text', 'json', 'arrayBuffer', 'blob', 'bytes'] as const
    for (let call = 0; call < 1_000; call++) {
      const response = await retrying(url, { signal: controller.signal })
      assert.equal(counted.listeners(), 1)
      await response[readings[call % readings.length]!]()
    }
    assert.equal(counted.listeners(), 0)
  }, 60_000)

  it('has one listener, whatever the number of bodies being read', async () => {
    const { url, responses } = await slowBody()
    const counted = countedController()
    const { controller } = counted
    const retrying = createFetch()
    const texts: Promise<string>[] = []
    for (let call = 0; call < 20; call++) texts.push((await retrying(url, { signal: controller.signal })).text())
    assert.equal(counted.listeners(), 1)
    for (const response of responses) response.end('ended')
    assert.deepEqual(new Set(await Promise.all(texts)), new Set(['begun, ended']))
    assert.equal(counted.listeners(), 0)
  })

  it('has no listener for a response without a body, nor after a failure', async () => {
    const { url } = await listening('204', 'reset')
    const counted = countedController()
    const { controller } = counted
    const retrying = createFetch({ maxAttempts: 1 })
    await retrying(url, { signal: controller.signal })
    assert.equal(counted.listeners(), 0)
    await errorOf(retrying(url, { signal: controller.signal }))
    assert.equal(counted.listeners(), 0)
  })

  it('loses its listener when bodies are collected: read as a stream, or never', async () => {
    const { url } = await listening('200 {"ok":true}')
    const counted = countedController()
    const { controller } = counted
    const retrying = createFetch()
    // In a function of its own: the variables of one that waits are not garbage.
    const makeCalls = async (): Promise<void> => {
      for (let call = 0; call < 10; call++) {
        const response = await retrying(url, { signal: controller.signal })
        if (call % 2 === 0) for await (const _ of response.body!);
      }
    }
    await makeCalls()
    assert.equal(counted.listeners(), 1)
    await collectedUntil(() => counted.listeners() === 0)
  })

  it('keeps following a body of which a second reader was refused', async () => {
    const { url } = await slowBody()
    const counted = countedController()
    const { controller } = counted
    const response = await createFetch()(url, { signal: controller.signal })
    const first = errorOf(response.text())
    assert.ok((await errorOf(response.json())) instanceof TypeError)
    assert.equal(counted.listeners(), 1)
    controller.abort(new Error('enough'))
    assert.match(String(await first), /enough/)
    assert.equal(counted.listeners(), 0)
  })

  it('leaves the response as it was: its class, its fields, and what can be listed of it', async () => {
    const { fetch } = scriptedServer(['200 fine'])
    const { signal } = new AbortController()
    const response = await createFetch({}, { fetch })('/', { signal })
    assert.ok(response instanceof Response)
    assert.deepEqual(Object.keys(response), Object.keys(new Response('fine')))
    assert.equal(await response.clone().text(), 'fine')
    assert.equal(await response.text(), 'fine')
  })
})
