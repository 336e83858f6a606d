import assert from 'node:assert/strict'
import { closeSync, copyFileSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import type { NewTask } from '../../task/accept.ts'
import type { Task } from '../../task/task.ts'
import { sit, type Setting } from '../exam/exam.test-kit.ts'
import { giveUp, replayOf, succeed, TENANT } from '../exam/tasks.test-kit.ts'
import type { JsonObject, RecordKind, RecordWrite } from '../store.ts'
import { DATA_FILE } from './file.ts'
import { LOCK_FILE } from './holder.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { openIn, temporaryDirectory } from './sqlite.test-kit.ts'

const SECOND_MS = 1_000
const REQUEST = { targetUrl: 'https://api.example/charge', method: 'POST', headers: {}, body: new Uint8Array(1_000) }

const sitIn = (directory: string): Promise<Setting> => sit(options => openIn(directory, options))

function enqueueOne({ store, build }: Setting): Promise<unknown> {
  return store.enqueue([build()])
}

const CORRUPT = { name: 'StoreUnavailableError', code: 'store-corrupt' }

describe('a file that is damaged', () => {
  /** Written by an earlier life, and damaged in the middle of its tasks before this one. */
  async function damagedSetting(): Promise<Setting & { readonly taskIds: readonly string[] }> {
    const directory = temporaryDirectory()
    const before = await sitIn(directory)
    const tasks = await before.addMany(400, { request: REQUEST })
    await before.store.close()
    damage(join(directory, DATA_FILE), { from: 220_000, bytes: 40_000 })
    const setting = await sitIn(directory)
    return { ...setting, taskIds: tasks.map(({ taskId }) => taskId) }
  }

  it('is not known to be so until somebody meets the damage', async () => {
    const setting = await damagedSetting()
    assert.equal((await setting.store.health()).problem, undefined)
    await enqueueOne(setting)
  })

  it('stays so whatever else can be written: nothing new is taken, and the rest goes on', async () => {
    const setting = await damagedSetting()
    const { store, taskIds } = setting
    const answers = await Promise.allSettled(taskIds.map(taskId => store.get([taskId])))
    const sound = taskIds.filter((_, at) => answers[at]!.status === 'fulfilled')
    assert.ok(sound.length > 0 && sound.length < taskIds.length)
    for (const taskId of sound.slice(0, 3)) {
      assert.equal((await store.cancel(taskId)).kind, 'changed')
      const { problem, lasting } = await store.health()
      assert.match(problem!, /is damaged .*restore it from a copy/)
      assert.equal(lasting, CORRUPT.code)
      await assert.rejects(enqueueOne(setting), CORRUPT)
    }
    assert.equal((await store.write([recordOf('control', {})])).kind, 'written')
    assert.notEqual((await store.health()).problem, undefined)
    await assert.rejects(store.write([recordOf('policy', { ...DEFAULT_POLICY })]), CORRUPT)
  })

  it('is so for those who write when only a reader has seen it', async () => {
    const setting = await damagedSetting()
    const { store, all } = setting
    await assert.rejects(
      all(page => store.list({ ...page, filter: { tenant: TENANT }, order: 'newest-first' }), 100),
      CORRUPT,
    )
    assert.match((await store.health()).problem!, /is damaged/)
    await assert.rejects(enqueueOne(setting), CORRUPT)
  })
})

const GONE = { name: 'StoreUnavailableError', code: 'store-unreachable', message: /tasks\.db was moved, deleted or/ }

describe('a file that lost its name while it was open', () => {
  const LOSSES: readonly (readonly [how: string, lose: (path: string) => void])[] = [
    ['deleted', path => ['', '-wal', '-shm'].forEach(ending => rmSync(path + ending))],
    ['deleted with its directory', path => rmSync(dirname(path), { recursive: true })],
    ['moved', path => renameSync(path, `${path}.old`)],
    [
      'replaced',
      path => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
    ],
  ]
  for (const [how, lose] of LOSSES) {
    it(`takes nothing new from a second after it was ${how}, and what it has is worked off`, async () => {
      const directory = temporaryDirectory()
      const setting = await sitIn(directory)
      const { store, clock, claimOne, settle, add, get } = setting
      const task = await add()
      lose(join(directory, DATA_FILE))
      await clock.advance(SECOND_MS)
      await assert.rejects(enqueueOne(setting), GONE)
      assert.match((await store.health()).problem!, GONE.message)
      assert.deepEqual(await settle(succeed(await claimOne())), { kind: 'settled', status: 'SUCCEEDED' })
      assert.equal((await get(task)).state.status, 'SUCCEEDED')
      assert.match((await store.health()).problem!, GONE.message)
      await assert.rejects(enqueueOne(setting), GONE)
    })
  }

  /** A second after its file was deleted; before that it had a dead letter, a task that waits, and a key. */
  async function goneSetting(): Promise<Setting & { readonly dead: Task; readonly waitingTask: NewTask }> {
    const directory = temporaryDirectory()
    const setting = await sitIn(directory)
    const dead = await setting.ended(giveUp)
    const waitingTask = await setting.add()
    await setting.store.write([recordOf('key', {})])
    rmSync(directory, { recursive: true })
    await setting.clock.advance(SECOND_MS)
    return { ...setting, dead, waitingTask }
  }
  const BODY = {
    tenant: TENANT,
    bodyRef: 'sha256-1',
    location: 'a',
    sizeBytes: 1,
    contentType: 'a/b',
    neededUntil: 9,
    mostBytes: 9,
  }
  type Asked = (setting: Awaited<ReturnType<typeof goneSetting>>) => Promise<unknown>
  const PROMISED: readonly (readonly [what: string, ask: Asked])[] = [
    ['task', enqueueOne],
    ['replay of a task', ({ store, dead, clock }) => store.replay([replayOf(dead, clock.now())])],
    ['body', ({ store }) => store.putBody(BODY)],
    ['text of a key', ({ store }) => store.write([{ ...recordOf('key', {}), ifVersion: 1 }])],
    ...(['key', 'tenant', 'secret', 'replay', 'policy'] as const).map((kind): readonly [string, Asked] => [
      `record of a ${kind}`,
      ({ store }) => store.write([{ ...recordOf(kind, {}), id: 'another' }]),
    ]),
  ]
  it.each(PROMISED)('takes no new %s, which would be gone with it', async (_, ask) => {
    await assert.rejects(ask(await goneSetting()), GONE)
  })

  it('lets operators stop and slow what is sent, and shut somebody out, as long as the process lives', async () => {
    const { store, waitingTask } = await goneSetting()
    for (const kind of ['control', 'destination'] as const) {
      const ordered = recordOf(kind, { level: 'dispatch-off' })
      assert.equal((await store.write([ordered])).kind, 'written')
      assert.equal((await store.write([{ ...ordered, document: {}, ifVersion: 1 }])).kind, 'written')
    }
    assert.equal((await store.write([{ ...recordOf('key', null), ifVersion: 1 }])).kind, 'written')
    assert.equal((await store.attemptNow(waitingTask.taskId)).kind, 'changed')
    assert.equal((await store.cancel(waitingTask.taskId)).kind, 'changed')
  })

  it('is missed by whoever asks how the store is, at once and for good', async () => {
    const directory = temporaryDirectory()
    const { store } = await sitIn(directory)
    const path = join(directory, DATA_FILE)
    renameSync(path, `${path}.old`)
    assert.match((await store.health()).problem!, GONE.message)
    renameSync(`${path}.old`, path)
    const { problem, lasting } = await store.health()
    assert.match(problem!, GONE.message)
    assert.equal(lasting, GONE.code)
  })

  it('holds all that was acknowledged when the store is closed, wherever it is by then', async () => {
    const directory = temporaryDirectory()
    const elsewhere = temporaryDirectory()
    const { store, add } = await sitIn(directory)
    const { taskId } = await add()
    renameSync(join(directory, DATA_FILE), join(elsewhere, DATA_FILE))
    await store.close()
    const again = await sitIn(elsewhere)
    assert.equal((await again.get({ taskId })).state.status, 'PENDING')
  })

  it('is not begun anew beside a log that still belongs to it', async () => {
    const directory = temporaryDirectory()
    const { store, add } = await sitIn(directory)
    await add()
    const left = temporaryDirectory()
    const log = `${DATA_FILE}-wal`
    copyFileSync(join(directory, log), join(left, log))
    await store.close()
    const kept = readFileSync(join(left, log))
    await assert.rejects(openSqliteStore({ directory: left }), {
      code: 'store-unreachable',
      message: /tasks\.db is gone, but .*tasks\.db-wal.* is still there; put the file back/,
    })
    assert.deepEqual(readFileSync(join(left, log)), kept)
  })
})

const UNLOCKED = { name: 'StoreUnavailableError', code: 'store-unreachable', message: /and with it the lock/ }

describe('the lock on a directory', () => {
  it('that was deleted keeps nobody out, so that nothing more is written by its holder', async () => {
    const directory = temporaryDirectory()
    const setting = await sitIn(directory)
    const { store, clock, add, claimOne, settle, get } = setting
    const task = await add()
    const claimed = await claimOne()
    rmSync(join(directory, LOCK_FILE))
    const second = await sitIn(directory)
    await clock.advance(SECOND_MS)
    await assert.rejects(settle(succeed(claimed)), UNLOCKED)
    await assert.rejects(enqueueOne(setting), UNLOCKED)
    await assert.rejects(store.cancel(task.taskId), UNLOCKED)
    const { problem, lasting } = await store.health()
    assert.match(problem!, UNLOCKED.message)
    assert.equal(lasting, UNLOCKED.code)
    assert.equal((await get(task)).state.status, 'IN_FLIGHT')
    assert.equal((await second.store.health()).problem, undefined)
    const left = await second.get(task)
    assert.ok(left.state.status === 'IN_FLIGHT' && left.state.lease.endsAt <= clock.now())
    assert.deepEqual(await second.settle(giveUp(claimed)), { kind: 'settled', status: 'EXHAUSTED' })
  })
})

function recordOf(kind: RecordKind, document: JsonObject | null): RecordWrite {
  return { kind, id: 'one', tenant: TENANT, document, ifVersion: 0 }
}

function damage(path: string, { from, bytes }: { from: number; bytes: number }): void {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(bytes).fill(0x5a), 0, bytes, from)
  closeSync(file)
}
