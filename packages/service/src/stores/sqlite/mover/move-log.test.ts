import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, it, onTestFinished } from 'vitest'
import { NO_LIMITS, sit } from '../../conformance/exam.test-kit.ts'
import { TENANT } from '../../conformance/tasks.test-kit.ts'
import { DATA_FILE } from '../file/file.ts'
import { longLogPages } from '../file/log-length.ts'
import { openIn, temporaryDirectory } from '../sqlite.test-kit.ts'

const LONG_LOG_PAGES = longLogPages(Infinity)
const PAGE_BYTES = 4_096
const BODY_PAGES = 16
const REQUEST = {
  targetUrl: 'https://api.example/charge',
  method: 'POST',
  headers: {},
  body: new Uint8Array(BODY_PAGES * PAGE_BYTES),
}
const COMMITS = 100
const TASKS_OF_COMMIT = Math.ceil(LONG_LOG_PAGES / BODY_PAGES / COMMITS) + 1

describe('a long log', () => {
  it('is moved into the file while the store goes on, and then begins anew', async () => {
    const directory = temporaryDirectory()
    const { store, build } = await sit(options => openIn(directory, options))
    const add = (count: number): Promise<unknown> =>
      store.enqueue(
        Array.from({ length: count }, () => build({ request: REQUEST })),
        NO_LIMITS,
      )
    const log = lookAtLog(directory)
    for (let commit = 0; commit < COMMITS; commit++) await add(TASKS_OF_COMMIT)
    while (log().left > 0) await sleep(5)
    assert.ok(statSync(join(directory, DATA_FILE)).size > LONG_LOG_PAGES * PAGE_BYTES)

    await add(1)
    assert.ok(log().pages < 100, `${log().pages} pages`)
    const tasks = await store.list({ filter: { tenant: TENANT }, limit: 10 })
    assert.equal(tasks.items.length, 10)
  })
})

/** From outside, as an operator could. */
function lookAtLog(directory: string): () => { readonly pages: number; readonly left: number } {
  const database = new DatabaseSync(join(directory, DATA_FILE))
  onTestFinished(() => database.close())
  const look = database.prepare('pragma wal_checkpoint(noop)')
  return () => {
    const { log, checkpointed } = look.get() as { log: number; checkpointed: number }
    return { pages: log, left: log - checkpointed }
  }
}
