import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { StoreUnavailableError } from '../../stores/task-store.ts'
import { DiskFloor } from '../../upkeep/disk-floor.ts'
import { describeBodyStore } from '../body-store.conformance.ts'
import { openDirectoryBodies } from './directory-bodies.ts'
import { sayingWhy } from './faults.ts'

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-bodies-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'bodies')
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

describeBodyStore('a directory', async clock => {
  const directory = temporaryDirectory()
  return {
    bodies: await openDirectoryBodies({ directory }),
    // The clock of an exam is not that of the files: they are given the age that they should have by it.
    age: async ms => {
      for (const path of await filesIn(directory)) await utimes(path, clock.now() / 1_000, clock.now() / 1_000)
      await clock.advance(ms)
    },
  }
})

describe('a directory of bodies', () => {
  it('is nobody else’s to read', async () => {
    const directory = temporaryDirectory()
    const bodies = await openDirectoryBodies({ directory })
    const { location } = await bodies.put([Buffer.from('secret')], 100)
    assert.equal((await stat(join(directory, location))).mode & 0o777, 0o600)
    assert.equal((await stat(directory)).mode & 0o777, 0o700)
    assert.equal((await stat(join(directory, location, '..'))).mode & 0o777, 0o700)
  })

  it('is as it was when it is opened again, without what a crash left half-written', async () => {
    const directory = temporaryDirectory()
    const { location } = await (await openDirectoryBodies({ directory })).put([Buffer.from('kept')], 100)
    await writeFile(join(directory, 'arriving', 'f'.repeat(30)), 'hal')
    await writeFile(join(directory, 'arriving', 'not-ours'), 'x')
    const bodies = await openDirectoryBodies({ directory })
    assert.ok(await bodies.read(location))
    const { items } = await bodies.list({ putBefore: Number.MAX_SAFE_INTEGER, limit: 100 })
    assert.deepEqual(items, [location])
    assert.deepEqual(await readdir(join(directory, 'arriving')), ['not-ours'])
  })

  it('takes none below the floor of the disk, looks again as bodies come, and leaves nothing of what it refuses', async () => {
    const directory = temporaryDirectory()
    let freeBytes = 60_000_000
    const look = async () => ({ allBytes: 1_000_000_000, freeBytes })
    const bodies = await openDirectoryBodies({ directory, floor: new DiskFloor({ look, clock: virtualClock() }) })
    const { location } = await bodies.put([Buffer.alloc(1_000_000)], 10_000_000)
    async function* fillingUp(): AsyncIterable<Uint8Array> {
      yield Buffer.alloc(1_000_000)
      freeBytes = 49_000_000
      for (let chunks = 0; chunks < 5; chunks++) yield Buffer.alloc(1_000_000)
    }
    await assert.rejects(bodies.put(fillingUp(), 10_000_000), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError)
      return error.code === 'store-full'
    })
    assert.deepEqual(await filesIn(directory), [join(directory, location)])
  })

  it('says of each trouble with the disk what the store would say of it', async () => {
    const codes = { ENOSPC: 'store-full', EDQUOT: 'store-full', EROFS: 'store-read-only', EIO: 'store-unreachable' }
    for (const [code, said] of Object.entries(codes)) {
      const failing = sayingWhy(() => Promise.reject(Object.assign(new Error('no'), { code })))
      await assert.rejects(failing, (error: StoreUnavailableError) => error.code === said)
    }
    const mistake = new TypeError('ours')
    await assert.rejects(
      sayingWhy(() => Promise.reject(mistake)),
      error => error === mistake,
    )
  })

  it('says what is wrong with the disk in the words of the store', async () => {
    const directory = temporaryDirectory()
    const bodies = await openDirectoryBodies({ directory })
    rmSync(directory, { recursive: true })
    await assert.rejects(bodies.put([Buffer.from('x')], 100), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError)
      return error.code === 'store-unreachable' && error.message.includes('ENOENT')
    })
  })
})
