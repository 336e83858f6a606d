import assert from 'node:assert/strict'
import { chmodSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { everything } from '../exam/exam.test-kit.ts'
import { newTask, TENANT } from '../exam/tasks.test-kit.ts'
import { StoreUnavailableError, type Store } from '../store.ts'
import { DATA_FILE } from './file.ts'
import { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'

const REQUEST = { targetUrl: 'https://api.example/charge', method: 'POST', headers: {} }
const clock = virtualClock()
let number = 0

function taskOf(bodyBytes: number) {
  return newTask(++number, clock.now(), { request: { ...REQUEST, body: new Uint8Array(bodyBytes) } })
}

async function open(options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const store = await openSqliteStore({ directory: temporaryDirectory(), clock, ...options })
  onTestFinished(() => store.close())
  return store
}

function refusedWith(code: StoreUnavailableError['code'], sentence: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StoreUnavailableError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, sentence)
    return true
  }
}

describe('a disk that is full', () => {
  const MAX_FILE_BYTES = 1_000_000

  async function fill(store: Store): Promise<string[]> {
    const taken: string[] = []
    for (let tasks = 0; tasks < 1_000; tasks++) {
      const task = taskOf(10_000)
      try {
        await store.enqueue([task])
        taken.push(task.taskId)
      } catch (error) {
        refusedWith('store-full', /is full; nothing of this call was written; make room/)(error)
        return taken
      }
    }
    throw new Error('it never became full')
  }

  it('refuses new tasks, says so, and keeps all that it took', async () => {
    const directory = temporaryDirectory()
    const store = await open({ directory, maxFileBytes: MAX_FILE_BYTES })
    const taken = await fill(store)
    assert.ok(taken.length > 50)
    const { problem, lasting } = await store.health()
    assert.match(problem!, /^the disk of tasks\.db is full/)
    assert.equal(lasting, undefined, 'it passes, and nothing that was taken is lost by it')
    assert.ok(!problem!.includes(directory), 'strangers read this')
    await store.beat({ instance: 'one', largeFrom: { tasks: 9, lanes: 9 } })
    assert.match((await store.health()).problem ?? '', /is full/, 'a call that writes nothing proves nothing')
    for (const taskId of taken) assert.equal((await store.get([taskId]))[0]?.state.status, 'PENDING')
    assert.equal(await pendingIn(store), taken.length)
    await store.close()
    const again = await open({ directory })
    const listed = await everything(
      page => again.list({ ...page, filter: { tenant: TENANT }, order: 'newest-first' }),
      100,
    )
    assert.deepEqual(
      listed.map(({ taskId }) => taskId),
      taken.toReversed(),
    )
  })

  it('is forgotten as soon as there is room again, whether or not a task comes', async () => {
    const store = await open({ maxFileBytes: MAX_FILE_BYTES })
    const taken = await fill(store)
    for (const taskId of taken.slice(0, 20)) await store.cancel(taskId)
    await clock.advance(1)
    const before = clock.now()
    await store.sweep({ finishedBefore: before, deadBefore: before, auditBefore: 0, limit: 100 })
    assert.equal((await store.health()).problem, undefined)
    assert.deepEqual((await store.enqueue([taskOf(10_000)])).results, [{ kind: 'created' }])
  })

  it('refuses what does not fit, and nothing of what came with it', async () => {
    const store = await open({ maxFileBytes: MAX_FILE_BYTES })
    const [small, large, another] = [taskOf(100), taskOf(2_000_000), taskOf(100)]
    const answers = await Promise.allSettled([small, large, another].map(task => store.enqueue([task])))
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(
      (await store.get([large.taskId, another.taskId])).map(({ taskId }) => taskId),
      [another.taskId],
    )
    assert.equal(await pendingIn(store), 2)
  })
})

describe('a directory that cannot be written', () => {
  it('is refused, with what to do', async () => {
    const directory = temporaryDirectory()
    chmodSync(directory, 0o555)
    await withoutPrivileges(() =>
      assert.rejects(open({ directory }), refusedWith('store-read-only', /let the user of/)),
    )
  })

  it('is refused also when only the file cannot', async () => {
    const directory = temporaryDirectory()
    await (await open({ directory })).close()
    chmodSync(directory, 0o777)
    chmodSync(join(directory, DATA_FILE), 0o444)
    await withoutPrivileges(() =>
      assert.rejects(open({ directory }), refusedWith('store-read-only', /cannot be written/)),
    )
  })

  it('is refused when it is no directory', async () => {
    const directory = join(temporaryDirectory(), 'file')
    writeFileSync(directory, '')
    await assert.rejects(open({ directory }), refusedWith('store-unreachable', /EEXIST/))
  })
})

describe('a file that is not ours', () => {
  it('is refused when it is no database', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, DATA_FILE), 'a letter to my aunt '.repeat(500))
    await assert.rejects(
      open({ directory }),
      refusedWith('store-corrupt', /no data file of this service.*move it away/),
    )
  })

  it('is refused when it is somebody else’s database, and left as it is', async () => {
    const directory = temporaryDirectory()
    const path = join(directory, DATA_FILE)
    change(path, "create table recipe (name text); insert into recipe values ('soup')")
    await assert.rejects(open({ directory }), refusedWith('store-corrupt', /no data file of this service/))
    change(path, 'drop table recipe')
  })

  it('is refused when another version wrote it, with both formats', async () => {
    const directory = temporaryDirectory()
    await (await open({ directory })).close()
    change(join(directory, DATA_FILE), 'pragma user_version = 999')
    await assert.rejects(open({ directory }), refusedWith('store-unreachable', /its format is 999, this one reads 1\)/))
  })

  it('is refused when it is in use, and free again after a close', async () => {
    const directory = temporaryDirectory()
    const store = await open({ directory })
    await assert.rejects(
      open({ directory }),
      refusedWith('store-in-use', new RegExp(`in use by process ${process.pid}; stop that`)),
    )
    await store.close()
    await (await open({ directory })).close()
  })
})

describe('a file that was damaged', () => {
  it('answers with what is left of it, and says what is not', async () => {
    const directory = temporaryDirectory()
    const store = await open({ directory })
    const tasks = Array.from({ length: 400 }, () => taskOf(1_000))
    await store.enqueue(tasks)
    await store.close()
    damage(join(directory, DATA_FILE), { from: 300_000, bytes: 40_000 })
    const again = await open({ directory })
    const answers = await Promise.allSettled(tasks.map(({ taskId }) => again.get([taskId])))
    const failures = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    assert.ok(failures.length > 0 && failures.length < tasks.length)
    for (const error of failures) refusedWith('store-corrupt', /is damaged .*restore it from a copy/)(error)
  })
})

async function pendingIn(store: Store): Promise<number> {
  return (await store.beat({ instance: 'one', largeFrom: { tasks: 9, lanes: 9 } })).waiting.tasks.PENDING
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

function damage(path: string, { from, bytes }: { from: number; bytes: number }): void {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(bytes).fill(0x5a), 0, bytes, from)
  closeSync(file)
}

/** Nothing is forbidden to root. */
async function withoutPrivileges(act: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid!(65_534)
  try {
    await act()
  } finally {
    if (isRoot) process.seteuid!(0)
  }
}
