import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it, onTestFinished } from 'vitest'
import { laneKey, queueKey } from '../../../task/lane.ts'
import { newTask, QUEUE } from '../../conformance/tasks.test-kit.ts'
import type { Connection } from '../file/connection.ts'
import { openFile } from '../file/file.ts'
import { createWays } from '../reader/ways.ts'
import { newRow, type NewRow } from '../rows/task-rows.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import { createLanes, type Lanes } from './lanes.ts'
import { createTasks, type Tasks } from './tasks.ts'

const FILED_TOGETHER = 5
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const TENANTS = ['acme', 'zeta']
const EVERYTHING = { from: 1, behind: Number.MAX_SAFE_INTEGER }

interface Name {
  readonly tenant: string
  readonly key: string
}

const NAMES: readonly Name[] = TENANTS.flatMap(tenant => KEYS.map(key => ({ tenant, key })))

/** The tasks of a file, and what should be found: of each key the task that has it. */
class Exam {
  readonly connection: Connection
  readonly lanes: Lanes
  readonly tasks: Tasks
  model: ReadonlyMap<Name, number> = new Map()
  #made = 0

  constructor(connection: Connection, before?: Exam) {
    this.connection = connection
    this.lanes = createLanes(connection)
    this.tasks = createTasks(connection, FILED_TOGETHER)
    this.tasks.recall()
    if (before === undefined) return
    this.model = before.model
    this.#made = before.#made
  }

  /** As after the end of its process. */
  reopened(): Exam {
    return new Exam(this.connection, this)
  }

  transact(change: () => void, isKept = true): void {
    const { model } = this
    this.connection.exec('begin immediate')
    this.tasks.begin()
    change()
    this.tasks.flush()
    this.connection.exec(isKept ? 'commit' : 'rollback')
    if (isKept) return
    this.model = model
    for (const part of [this.lanes, this.tasks]) part.forget()
    this.tasks.recall()
  }

  /** A task that has this key, or none; refused if somebody has the key. */
  add(name?: Name): number | undefined {
    const task = this.#rowOf(name)
    const isFree = this.tasks.isKeyFree(task)
    assert.equal(isFree, name === undefined || !this.model.has(name))
    if (!isFree) return undefined
    const [, lane, queue] = task
    const seq = this.tasks.add(task, this.lanes.queueOf(lane, queue))!
    if (name !== undefined) this.model = new Map([...this.model, [name, seq]])
    return seq
  }

  remove(name: Name): void {
    const seq = this.model.get(name)
    if (seq === undefined) return
    this.tasks.remove(seq)
    this.model = new Map([...this.model].filter(([other]) => other !== name))
  }

  /** As whoever writes finds it, and whoever reads. */
  check(): void {
    const waysOf = createWays(this.connection, 'newest-first')
    for (const name of NAMES) {
      const seq = this.model.get(name)
      assert.equal(this.tasks.sameAs(this.#rowOf(name)), seq)
      // Another tenant's may be among them: whoever walks looks at each.
      const found = waysOf({ tenant: name.tenant, idempotencyKey: name.key })!(EVERYTHING, 9)
      assert.equal(seq === undefined || found.includes(seq), true)
    }
    const stray = this.connection.rows('select * from idempotency where seq not in (select seq from task)')
    assert.deepEqual(stray(), [])
  }

  filed(): { readonly upTo: number; readonly keys: number } {
    const [upTo, keys] = this.connection.row<[number, number]>(
      'select keys_filed_up_to, (select count(*) from idempotency) from store',
    )()!
    return { upTo, keys }
  }

  #rowOf(name?: Name): NewRow {
    const { tenant, key } = name ?? { tenant: TENANTS[0]!, key: undefined }
    this.#made++
    return newRow(newTask(this.#made, this.#made, { tenant, ...(key !== undefined && { idempotencyKey: key }) }))
  }
}

function exam(): Exam {
  const { connection, close } = openFile({ directory: temporaryDirectory() })
  onTestFinished(close)
  return new Exam(connection)
}

const anyName = fc.constantFrom(...NAMES)
const anyChange = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), name: anyName }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), name: anyName }) },
)
const oneInTen = (one: boolean): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(!one) }, { weight: 1, arbitrary: fc.constant(one) })
const anyTransaction = fc.record({
  changes: fc.array(anyChange, { maxLength: 6 }),
  isKept: oneInTen(false),
  isReopened: oneInTen(true),
})

describe('keys', () => {
  it('are found, loose or filed, whatever was removed, rolled back or opened anew meanwhile', () => {
    fc.assert(
      fc.property(fc.array(anyTransaction, { maxLength: 30 }), transactions => {
        const { connection, close } = openFile({ directory: temporaryDirectory() })
        let tried = new Exam(connection)
        for (const { changes, isKept, isReopened } of transactions) {
          if (isReopened) tried = tried.reopened()
          tried.transact(() => {
            for (const change of changes)
              if (change.kind === 'add') tried.add('name' in change ? change.name : undefined)
              else tried.remove(change.name)
          }, isKept)
          tried.check()
        }
        close()
      }),
      { numRuns: 40 },
    )
  })

  it('are found while they are loose, while a lot is being filed and when it is filed, and after a restart each time', () => {
    let tried = exam()
    const filed: (readonly [upTo: number, keys: number])[] = []
    for (const name of NAMES.slice(0, 8)) {
      tried.transact(() => void tried.add(name))
      tried.check()
      tried.reopened().check()
      filed.push([tried.filed().upTo, tried.filed().keys])
    }
    assert.deepEqual(filed, [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 2],
      [0, 4],
      [5, 5],
      [5, 5],
    ])
    // In the middle of a lot: what was filed of it is filed again.
    for (const name of NAMES.slice(8, 11)) tried.transact(() => void tried.add(name))
    assert.deepEqual(tried.filed(), { upTo: 5, keys: 9 })
    tried = tried.reopened()
    for (const name of NAMES.slice(11)) tried.transact(() => void tried.add(name))
    tried.check()
    assert.deepEqual(tried.filed(), { upTo: 10, keys: 14 })
  })

  it('come to be filed however often the process is started anew before a lot is', () => {
    let tried = exam()
    for (const name of NAMES) {
      tried = tried.reopened()
      tried.transact(() => void tried.add(name))
      tried.check()
      assert.ok(tried.tasks.newest - tried.filed().upTo <= 2 * FILED_TOGETHER)
    }
    assert.equal(tried.filed().upTo, 10)
  })

  it('that came with transactions that failed are forgotten, however many, and the others are filed all the same', () => {
    const tried = exam()
    for (const name of NAMES.slice(0, 4)) tried.transact(() => void tried.add(name))
    for (let round = 0; round < 5; round++)
      for (const name of NAMES.slice(4)) tried.transact(() => void tried.add(name), false)
    tried.check()
    for (const name of NAMES.slice(4)) tried.transact(() => void tried.add(name))
    tried.check()
    assert.deepEqual(tried.filed(), { upTo: 10, keys: 14 })
    tried.reopened().check()
  })

  it('are not read again when a transaction fails', () => {
    const tried = exam()
    for (const name of NAMES.slice(0, 4)) tried.transact(() => void tried.add(name))
    // Whoever reads them all finds none any more.
    tried.connection.exec('update task set idempotency_key = null')
    tried.transact(() => void tried.add(NAMES[4]), false)
    for (const name of NAMES.slice(0, 4)) assert.equal(tried.add(name), undefined)
    tried.transact(() => assert.ok(tried.add(NAMES[4])))
  })

  it('are free once their task is gone, and another can have them at once, loose, being filed or filed', () => {
    const tried = exam()
    for (const name of NAMES) tried.transact(() => void tried.add(name))
    for (let round = 0; round < 3; round++)
      for (const name of NAMES) {
        tried.transact(() => {
          tried.remove(name)
          tried.add(name)
        })
        tried.check()
        tried.reopened().check()
      }
    assert.equal(tried.model.size, NAMES.length)
  })

  it('are filed as they come, however many come together: no more than two lots of them are ever loose', () => {
    const tried = exam()
    for (const together of [1, 1, 1, 16, 4, 1, 100, 1]) {
      tried.transact(() => {
        for (let n = 0; n < together; n++) tried.add()
      })
      assert.ok(tried.tasks.newest - tried.filed().upTo <= 2 * FILED_TOGETHER)
    }
  })

  it('that are few among many tasks are found by reading no more of these', () => {
    const tried = exam()
    tried.transact(() => void tried.add(NAMES[0]))
    for (let n = 0; n < 20; n++) tried.transact(() => void tried.add())
    assert.deepEqual(tried.filed(), { upTo: 20, keys: 1 })
    tried.reopened().check()
  })

  it('of tasks that come when all others are gone are found after a restart: they have numbers behind what is filed', () => {
    let tried = exam()
    for (const name of NAMES) tried.transact(() => void tried.add(name))
    tried.transact(() => {
      for (const name of NAMES) tried.remove(name)
    })
    tried = tried.reopened()
    tried.transact(() => void tried.add(NAMES[3]))
    tried.reopened().check()
    assert.ok(tried.tasks.newest > tried.filed().upTo)
  })

  it('stay free when the id of their task was taken', () => {
    const tried = exam()
    const taken = newTask(1, 0)
    const [lane, queue] = [laneKey(taken), queueKey(QUEUE)]
    tried.transact(() => {
      const place = tried.lanes.queueOf(lane, queue)
      assert.equal(tried.tasks.add(newRow(taken), place), 1)
      const refused = newRow({ ...taken, idempotencyKey: 'a', keyGiven: true })
      assert.equal(tried.tasks.add(refused, place), undefined)
      assert.equal(tried.tasks.isKeyFree(newRow({ ...newTask(2, 0), idempotencyKey: 'a', keyGiven: true })), true)
    })
  })
})
