import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { floorBytes } from '../../../upkeep/disk-floor.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { numberOf } from './migrate.ts'
import { openFile } from './file.ts'
import { diskBytes, longLogPages, mostLogBytes, mostLogPages, shortLogPages } from './log-length.ts'

const GB = 1_000_000_000

describe('the log', () => {
  it('becomes 64 MiB long at most, is moved at half of that, and is shorter on a small disk', () => {
    assert.equal(mostLogBytes(Infinity), 64 * 1_048_576)
    assert.equal(longLogPages(Infinity), Math.floor(mostLogPages(Infinity) / 2))
    assert.equal(shortLogPages(Infinity), 254)
    assert.equal(mostLogBytes(GB), GB / 80)
    assert.equal(mostLogPages(0), 500)
  })

  it('takes at most a quarter of the floor of the disk, and as much again when it is moved', () => {
    for (const allBytes of [GB, 4 * GB, 100 * GB]) assert.ok(mostLogBytes(allBytes) <= floorBytes(allBytes) / 4)
  })

  it('is as long as the disk under the file allows', () => {
    const directory = temporaryDirectory()
    const { connection, close } = openFile({ directory })
    assert.equal(numberOf(connection, 'pragma wal_autocheckpoint'), mostLogPages(diskBytes(directory)))
    assert.equal(numberOf(connection, 'pragma journal_size_limit'), mostLogBytes(diskBytes(directory)))
    close()
  })

  it('is taken to lie on a large disk where that does not say', () => {
    assert.equal(diskBytes('/nowhere/at/all'), Infinity)
  })
})
