import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { temporaryDirectory } from './sqlite.test-kit.ts'
import { openFile } from './file.ts'
import { holdingOf, writeHolder } from './holder.ts'

describe('the holder of a data directory', () => {
  it('is told while it has the lock, with where it answers once it has said so', () => {
    const directory = temporaryDirectory()
    assert.deepEqual(holdingOf(directory), { kind: 'free' })
    const { close } = openFile({ directory })
    assert.deepEqual(holdingOf(directory), { kind: 'held', holder: { pid: process.pid } })
    const holder = { pid: process.pid, url: 'http://127.0.0.1:4747', instance: 'one-start' }
    writeHolder(directory, holder)
    assert.deepEqual(holdingOf(directory), { kind: 'held', holder })
    close()
    assert.deepEqual(holdingOf(directory), { kind: 'free' })
    openFile({ directory }).close()
  })

  it('is no condition: where it cannot be written the directory is opened all the same', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'lock.pid'))
    const { close } = openFile({ directory })
    assert.deepEqual(holdingOf(directory), { kind: 'held' })
    close()
  })
})
