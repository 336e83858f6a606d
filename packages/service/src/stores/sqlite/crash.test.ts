import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { TASK_STATUSES } from '../../task/task.ts'
import { everything } from '../exam/exam.test-kit.ts'
import { newTask, PARTITION, TENANT } from '../exam/tasks.test-kit.ts'
import type { ListedTask, Store } from '../store.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { temporaryDirectory } from './sqlite.test-kit.ts'

const CHILD = fileURLToPath(new URL('crash-child.test-kit.ts', import.meta.url))
const ROUNDS = 10
const LONGEST_LIFE_MS = 300

/** What children wrote down before they were killed. */
class Ledger {
  readonly path: string
  readonly taken = new Set<string>()
  readonly ended = new Map<string, string>()
  readonly attempts = new Map<string, number>()
  readonly recalled = new Set<string>()
  #linesRead = 0

  constructor(path: string) {
    this.path = path
  }

  /** Reads what is new. */
  read(): void {
    const lines = readFileSync(this.path, 'utf8').split('\n').slice(0, -1)
    const fresh = lines.slice(this.#linesRead)
    this.#linesRead = lines.length
    for (const line of fresh) {
      const [word, taskId = '', status = '', attemptNumber = '0'] = line.split(' ')
      if (word === 'taken') this.taken.add(taskId)
      if (word === 'recalled') this.recalled.add(taskId)
      if (word !== 'tried' && word !== 'ended') continue
      this.attempts.set(taskId, Math.max(Number(attemptNumber), this.attempts.get(taskId) ?? 0))
      if (word !== 'ended') continue
      assert.ok(!this.ended.has(taskId), `${taskId} ended twice: ${this.ended.get(taskId)}, then ${status}`)
      this.ended.set(taskId, status)
    }
  }
}

/** Lets a child work, does something meanwhile, and kills it without warning. */
async function liveAndDie({ directory, ledger, number }: Life, meanwhile: () => Promise<unknown>): Promise<void> {
  const flags = ['--conditions=@secondwind/source', CHILD, directory, ledger, String(number)]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise<'closed'>(resolve => child.on('close', () => resolve('closed')))
  const begun = new Promise<'begun'>(resolve => child.stdout.once('data', () => resolve('begun')))
  try {
    assert.equal(await Promise.race([begun, closed]), 'begun')
    await meanwhile()
    assert.equal(child.exitCode, null, 'the child ended by itself')
  } finally {
    child.kill('SIGKILL')
    await closed
  }
}

interface Life {
  readonly directory: string
  readonly ledger: string
  readonly number: number
}

async function checkAgainst(ledger: Ledger, store: Store): Promise<void> {
  const listed = await everything(
    page => store.list({ ...page, filter: { tenant: TENANT }, order: 'newest-first' }),
    200,
  )
  const tasks = new Map(listed.map(task => [task.taskId, task]))
  for (const taskId of ledger.taken) assert.ok(tasks.has(taskId), `${taskId} was acknowledged and is gone`)
  for (const [taskId, status] of ledger.ended) assert.equal(tasks.get(taskId)!.state.status, status, taskId)
  const { now } = await store.health()
  for (const taskId of ledger.recalled) {
    const { state } = tasks.get(taskId)!
    assert.ok(state.status !== 'PENDING' || state.nextAttemptAt <= now, `${taskId} is no longer recalled`)
  }
  await checkKeys(listed, store)
  for (const task of listed) await checkAttempts(task, ledger.attempts.get(task.taskId) ?? 0, store)
  const { waiting } = await store.beat({ instance: 'checker', largeFrom: { tasks: 1, lanes: 1 } })
  for (const status of TASK_STATUSES) {
    const count = listed.filter(({ state }) => state.status === status).length
    assert.equal(waiting.tasks[status], count, status)
  }
  const { items: left } = await store.leases({ partitions: [PARTITION], haveEnded: true, limit: 1_000 })
  assert.equal(left.length, listed.filter(({ state }) => state.status === 'IN_FLIGHT').length)
}

/** Whoever sends a task again with its key is answered with that task. */
async function checkKeys(tasks: readonly ListedTask[], store: Store): Promise<void> {
  const keyed = tasks.filter(({ taskId, idempotencyKey }) => idempotencyKey !== taskId)
  const again = keyed.map(({ idempotencyKey }, at) => newTask(at, 0, { idempotencyKey }))
  const { results } = await store.enqueue(again)
  assert.deepEqual(
    results.map(result => (result.kind === 'existing' ? result.task.taskId : result.kind)),
    keyed.map(({ taskId }) => taskId),
  )
}

async function checkAttempts(task: ListedTask, acknowledged: number, store: Store): Promise<void> {
  const { taskId, progress, state } = task
  const rows = await everything(page => store.attempts({ ...page, taskId }), 50)
  assert.equal(rows.length, progress.attemptNumber, `${taskId} has other attempts than it counts`)
  assert.ok(rows.length >= acknowledged, `${taskId} has lost an attempt`)
  const successes = rows.filter(({ outcome }) => outcome === 'success').length
  assert.equal(successes, state.status === 'SUCCEEDED' ? 1 : 0, `${taskId} is ${state.status}`)
}

describe('a process that is killed without warning', () => {
  it('loses nothing that was acknowledged, and no task ends twice', { timeout: 120_000 }, async () => {
    const directory = temporaryDirectory()
    const ledger = new Ledger(join(temporaryDirectory(), 'ledger'))
    const random = seededRandom(4747)
    for (let number = 1; number <= ROUNDS; number++) {
      await liveAndDie({ directory, ledger: ledger.path, number }, () => sleep(random() * LONGEST_LIFE_MS))
      ledger.read()
      const store = await openSqliteStore({ directory })
      await checkAgainst(ledger, store)
      await store.close()
    }
    assert.ok(ledger.taken.size > ROUNDS && ledger.ended.size > ROUNDS && ledger.recalled.size > ROUNDS)
  })

  it('has kept every other process from its data until then', async () => {
    const directory = temporaryDirectory()
    const refused = { code: 'store-in-use', message: /in use by process \d+/ }
    const life = { directory, ledger: join(temporaryDirectory(), 'ledger'), number: 1 }
    await liveAndDie(life, () => assert.rejects(openSqliteStore({ directory }), refused))
    const store = await openSqliteStore({ directory })
    await store.close()
  })
})
