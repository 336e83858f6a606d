import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { numberOf, openFile } from './file.ts'
import { FORMAT } from './schema.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'

describe('the data file', () => {
  it('cannot be read by other users of the machine', () => {
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

  it('has our format after it was opened, and stays as it is when it is opened again', () => {
    const directory = temporaryDirectory()
    openFile({ directory }).close()
    const { connection: again, close } = openFile({ directory })
    assert.equal(numberOf(again, 'pragma user_version'), FORMAT)
    close()
  })

  it('has a log that is on the disk before a commit is answered', () => {
    const { connection: opened, close } = openFile({ directory: temporaryDirectory() })
    assert.deepEqual(opened.row('pragma journal_mode')(), ['wal'])
    assert.equal(numberOf(opened, 'pragma synchronous'), 2)
    close()
  })
})
