import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { openFile } from './file.ts'
import { numberOf } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'

describe('the data file', () => {
  it('is for nobody else on the machine', () => {
    const directory = join(temporaryDirectory(), 'deep', 'data')
    openFile({ directory }).close()
    assert.equal(statSync(directory).mode & 0o077, 0)
    const shared = temporaryDirectory()
    chmodSync(shared, 0o755)
    const { close } = openFile({ directory: shared })
    for (const file of readdirSync(shared)) assert.equal(statSync(join(shared, file)).mode & 0o077, 0, file)
    close()
  })

  it('is refused at once where no directory can be made', { skip: !existsSync('/proc/self') }, () => {
    assert.throws(() => openFile({ directory: '/proc/x' }), { code: 'store-unreachable' })
  })

  it('is in the newest format after it was opened, and stays as it is when opened again', () => {
    const directory = temporaryDirectory()
    openFile({ directory }).close()
    const { connection: again, close } = openFile({ directory })
    assert.equal(numberOf(again, 'pragma user_version'), MIGRATIONS.length)
    close()
  })

  it('has a log that is on the disk before it is moved into the file', () => {
    const { connection: opened, close } = openFile({ directory: temporaryDirectory() })
    assert.deepEqual(opened.row('pragma journal_mode')(), ['wal'])
    assert.deepEqual(opened.row('pragma synchronous')(), [1])
    close()
  })
})
