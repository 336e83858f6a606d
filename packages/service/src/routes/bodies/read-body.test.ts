import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { uploaded } from '../../bodies/bodies.test-kit.ts'
import { openDirectoryBodies } from '../../bodies/directory/directory-bodies.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { readBody, type WholeBody } from './read-body.ts'

/** A body in a directory, looked through; `open` counts the files that were opened and not closed. */
async function bodyToRead(): Promise<{ readonly body: WholeBody; readonly open: () => number }> {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-bodies-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const [store, kept] = [openMemoryStore({ clock: virtualClock() }), await openDirectoryBodies({ directory })]
  const name = await uploaded({ store, bodies: kept }, [Buffer.alloc(100_000)])
  let open = 0
  async function* noting(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* chunks
    } finally {
      open--
    }
  }
  const read = async (location: string): Promise<AsyncIterable<Uint8Array> | undefined> => {
    const chunks = await kept.read(location)
    open++
    return chunks && noting(chunks)
  }
  return { body: await readBody(name, { store, bodies: { ...kept, read } }, { warn() {} }), open: () => open }
}

describe('a body that is answered', () => {
  it('has no file open before it is read, nor after its reader has left', async () => {
    const { body, open } = await bodyToRead()
    assert.equal(open(), 0)
    const stream = Readable.from(body.bytes)
    stream.destroy()
    await new Promise(resolve => stream.once('close', resolve))
    assert.equal(open(), 0)
  })

  it('has none open after its end, or after its reader has left in the middle', async () => {
    const whole = await bodyToRead()
    let bytes = 0
    for await (const chunk of whole.body.bytes) bytes += chunk.length
    assert.deepEqual([bytes, whole.open()], [100_000, 0])
    const broken = await bodyToRead()
    for await (const chunk of broken.body.bytes) {
      assert.ok(chunk.length > 0 && broken.open() === 1)
      break
    }
    assert.equal(broken.open(), 0)
  })
})
