import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, vi } from 'vitest'
import { aService, aSink, temporaryDirectory, until } from '../service.test-kit.ts'
import { intact } from './intact.ts'

// Real sockets, real disks: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

const LARGE = 'a large body '.repeat(20_000)

/** What may happen to a file on a disk. */
const DAMAGES: { readonly [name: string]: (path: string) => void } = {
  'is shorter': path => truncateSync(path, LARGE.length - 1),
  'is empty': path => truncateSync(path, 0),
  'is longer': path => appendFileSync(path, '!'),
  'has other bytes': path => writeFileSync(path, readFileSync(path, 'utf8').replace('large', 'small')),
  'is gone': path => rmSync(path),
}

async function withBody() {
  const data = temporaryDirectory()
  const service = await aService({ data })
  const upload = async (): Promise<string> => {
    const response = await fetch(`${service.url}/bodies`, { method: 'POST', body: LARGE })
    return ((await response.json()) as { bodyRef: string }).bodyRef
  }
  const bodyRef = await upload()
  const bodies = join(data, 'bodies')
  const entries = readdirSync(bodies, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  assert.equal(files.length, 1)
  return { service, upload, bodyRef, path: join(files[0]!.parentPath, files[0]!.name) }
}

describe('a body whose file', () => {
  for (const [damage, harm] of Object.entries(DAMAGES))
    it(`${damage} is answered with a problem, ends its tasks with body-missing, and is mended by an upload`, async () => {
      const { service, upload, bodyRef, path } = await withBody()
      const sink = await aSink()
      harm(path)
      const got = await service.call(`/bodies/${bodyRef}`)
      assert.deepEqual([got.status, got.body.code], [404, damage === 'is gone' ? 'body-not-found' : 'body-damaged'])
      assert.match(got.body.detail, /[Uu]pload them again/)
      const head = await fetch(`${service.url}/bodies/${bodyRef}`, { method: 'HEAD' })
      assert.equal(head.status, 404)
      assert.ok(service.lines.some(line => line.includes(damage === 'is gone' ? 'body-missing' : 'body-damaged')))

      const { body } = await service.call('/retry-tasks', { targetUrl: sink.url, method: 'POST', bodyRef })
      const read = () => service.call(`/retry-tasks/${body.taskId}`)
      const { body: task } = await until(read, answer => answer.body.status === 'EXHAUSTED')
      assert.deepEqual([task.reason, task.attemptNumber, sink.arrivals], ['body-missing', 0, []])

      await upload()
      await service.call(`/retry-tasks/${body.taskId}/replay`, undefined, 'POST')
      await until(read, answer => answer.body.status === 'SUCCEEDED')
      assert.equal(sink.arrivals[0]!.body, LARGE)
      assert.equal((await service.call(`/bodies/${bodyRef}`)).body, LARGE)
    })

  it('cannot be read now is answered with 503, and its task waits', async () => {
    const { service, bodyRef, path } = await withBody()
    rmSync(path)
    // A directory can be opened, and not be read.
    mkdirSync(path)
    const got = await service.call(`/bodies/${bodyRef}`)
    assert.deepEqual([got.status, got.body.code], [503, 'store-unreachable'])
    const { body } = await service.call('/retry-tasks', { targetUrl: 'http://127.0.0.1:9/', method: 'POST', bodyRef })
    await until(
      async () => service.lines.some(line => line.includes('body-unreadable')),
      isSaid => isSaid,
    )
    assert.notEqual((await service.call(`/retry-tasks/${body.taskId}`)).body.status, 'EXHAUSTED')
  })
})

describe('bytes that are checked on their way', () => {
  it('never arrive whole when they are others: the last of them waits for the hash', async () => {
    const expected = { bodyRef: `sha256-${'0'.repeat(64)}`, sizeBytes: 4 }
    for (const chunks of [['ab', 'cd'], ['abcd'], ['a'], [], ['abc', 'de']]) {
      let arrived = ''
      const reading = async (): Promise<void> => {
        for await (const chunk of intact(inTurn(chunks), expected)) arrived += Buffer.from(chunk).toString()
      }
      await assert.rejects(reading(), { code: 'body-damaged' })
      assert.ok(arrived.length < expected.sizeBytes, arrived)
    }
  })
})

async function* inTurn(chunks: readonly string[]): AsyncIterable<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk)
}
