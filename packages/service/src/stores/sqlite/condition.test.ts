import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Condition } from './condition.ts'
import { faultOf } from './faults.ts'
import { openFile } from './file.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'

/** As SQLite says it: IOERR_FSYNC. */
const NOT_KEPT = Object.assign(new Error('disk I/O error'), { errcode: 1_034, errstr: 'disk I/O error' })
/** IOERR_WRITE: nothing of the transaction was written. */
const NOT_WRITTEN = Object.assign(new Error('disk I/O error'), { errcode: 778, errstr: 'disk I/O error' })

function setting() {
  const { files, path, close } = openFile({ directory: temporaryDirectory() })
  close()
  const condition = new Condition(files, () => 0)
  return { condition, fault: (error: unknown) => faultOf(error, path) }
}

describe('a disk that could not keep what was written', () => {
  it('ends all writes for good, with a sentence: a later success proves nothing', () => {
    const { condition, fault } = setting()
    const unkept = fault(NOT_KEPT)
    assert.ok(unkept?.isUnkept)
    condition.failed(unkept)
    condition.wrote()
    assert.match(condition.problem.problem ?? '', /could not keep what was written.*nothing more is written/)
    assert.equal(condition.problem.lasting, 'store-unreachable')
    for (const verb of ['settle', 'enqueue', 'cancel'] as const)
      assert.throws(() => condition.refuse(verb, []), { code: 'store-unreachable' })
    // Whoever lives and serves what is in memory, and needs no disk.
    condition.refuse('beat', { instance: 'one', largeFrom: { tasks: 1, lanes: 1 } })
  })
})

describe('a write that failed', () => {
  it('is a problem until the next write that succeeds', () => {
    const { condition, fault } = setting()
    const failed = fault(NOT_WRITTEN)
    assert.ok(failed !== undefined && !failed.isUnkept)
    condition.failed(failed)
    assert.equal(condition.mayPass, true)
    condition.refuse('enqueue', [])
    condition.wrote()
    assert.deepEqual(condition.problem, {})
  })
})
