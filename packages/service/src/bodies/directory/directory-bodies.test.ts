import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { StoreUnavailableError } from '../../stores/store.ts'
import { DiskFloor } from '../../upkeep/disk-floor.ts'
import { locationsIn } from '../bodies.test-kit.ts'
import { describeBodyStore } from '../body-store.conformance.ts'
import type { ByteChunks, ComingBody } from '../body-store.ts'
import { openDirectoryBodies } from './directory-bodies.ts'
import { sayingWhy } from './faults.ts'

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-bodies-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'bodies')
}

/** As an upload of the tenant acme. */
function upload(bytes: ByteChunks, mostBytes = 10_000_000): ComingBody {
  return { tenant: 'acme', bytes, mostBytes }
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
  it('can be read by no other user', async () => {
    const directory = temporaryDirectory()
    const bodies = await openDirectoryBodies({ directory })
    const { location } = await bodies.put(upload([Buffer.from('secret')]))
    assert.equal((await stat(join(directory, location))).mode & 0o777, 0o600)
    assert.equal((await stat(directory)).mode & 0o777, 0o700)
    assert.equal((await stat(join(directory, location, '..'))).mode & 0o777, 0o700)
  })

  it('is as it was when it is opened again, without what a crash left half-written', async () => {
    const directory = temporaryDirectory()
    const { location } = await (await openDirectoryBodies({ directory })).put(upload([Buffer.from('kept')]))
    await writeFile(join(directory, '_arriving', 'f'.repeat(32)), 'hal')
    await writeFile(join(directory, '_arriving', 'not-ours'), 'x')
    const bodies = await openDirectoryBodies({ directory })
    assert.ok(await bodies.read(location))
    assert.deepEqual(await readdir(join(directory, '_arriving')), ['not-ours'])
  })

  it('lists only what it has put: files and folders of others stay as they are', async () => {
    const directory = temporaryDirectory()
    const bodies = await openDirectoryBodies({ directory })
    const { location } = await bodies.put(upload([Buffer.from('kept')]))
    for (const folder of ['lost+found', '_arriving', 'acme']) {
      await mkdir(join(directory, folder), { recursive: true })
      await writeFile(join(directory, folder, 'not-ours'), 'x')
    }
    await writeFile(join(directory, 'lost+found', location.slice('acme/'.length)), 'x')
    await writeFile(join(directory, 'readme'), 'x')
    assert.deepEqual(await locationsIn(bodies), [location])
  })

  it('keeps the bodies of a tenant that is called arriving apart from those that arrive', async () => {
    const directory = temporaryDirectory()
    const put = await (
      await openDirectoryBodies({ directory })
    ).put({ ...upload([Buffer.from('kept')]), tenant: 'arriving' })
    const bodies = await openDirectoryBodies({ directory })
    assert.ok(await bodies.read(put.location))
  })

  it('takes none below the floor of the disk, looks again as bodies come, and leaves nothing of what it refuses', async () => {
    const directory = temporaryDirectory()
    let freeBytes = 60_000_000
    const look = async () => ({ allBytes: 1_000_000_000, freeBytes })
    const bodies = await openDirectoryBodies({ directory, floor: new DiskFloor({ look, clock: virtualClock() }) })
    const { location } = await bodies.put(upload([Buffer.alloc(1_000_000)]))
    async function* fillingUp(): AsyncIterable<Uint8Array> {
      yield Buffer.alloc(1_000_000)
      freeBytes = 49_000_000
      for (let chunks = 0; chunks < 5; chunks++) yield Buffer.alloc(1_000_000)
    }
    await assert.rejects(bodies.put(upload(fillingUp())), (error: unknown) => {
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

  it('reports a missing directory in the words of the store', async () => {
    const directory = temporaryDirectory()
    const bodies = await openDirectoryBodies({ directory })
    rmSync(directory, { recursive: true })
    await assert.rejects(bodies.put(upload([Buffer.from('x')])), (error: unknown) => {
      assert.ok(error instanceof StoreUnavailableError)
      return error.code === 'store-unreachable' && error.message.includes('ENOENT')
    })
  })
})
