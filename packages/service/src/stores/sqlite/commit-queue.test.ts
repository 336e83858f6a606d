import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Hint } from '../store.ts'
import { newTask } from '../exam/tasks.test-kit.ts'
import { CommitQueue } from './commit-queue.ts'
import type { Fault } from './faults.ts'
import { newRow, type NewRow } from './rows.ts'
import type { Batch, Committed } from './worker.ts'

/** A queue in front of a worker that answers when the test says so. */
function queueBefore() {
  const batches: Batch[] = []
  const answers: { resolve(committed: Committed): void; reject(error: Error): void }[] = []
  const faults: (Fault | undefined)[] = []
  const hints: Hint[] = []
  let now = 100
  const queue = new CommitQueue({
    commit: batch => {
      batches.push(batch)
      return new Promise((resolve, reject) => answers.push({ resolve, reject }))
    },
    now: () => now++,
    isInMemory: false,
    onHint: hint => hints.push(hint),
    onWrite: fault => faults.push(fault),
  })
  let committed = 0
  /** Commits the earliest batch that is not committed; each call is answered with its verb. */
  const commit = (change: Partial<Committed> = {}): void => {
    const [batch, answer] = [batches[committed], answers[committed]]
    assert.ok(batch !== undefined && answer !== undefined)
    committed++
    const outcomes = batch.calls.map(([verb]) => ({ kind: 'done', answer: verb }) as const)
    answer.resolve({ outcomes, hints: [], hasWritten: true, ...change })
  }
  const verbs = (): string[][] => batches.map(({ calls }) => calls.map(([verb]) => verb))
  return { queue, commit, verbs, batches, answers, faults, hints }
}

function tasksOf(tenant: string, count: number): NewRow[] {
  return Array.from({ length: count }, (_, number) => newRow(newTask(number, 0, { tenant })))
}

/** A turn for the calls, and one for what their answers lead to. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(resolve => setImmediate(resolve))
}

const SWEEP = { finishedBefore: 0, deadBefore: 0, auditBefore: 0, limit: 0 }

describe('calls to a store', () => {
  it('go together when they come together, one batch behind another; calls that come meanwhile go with the next', async () => {
    const { queue, commit, verbs } = queueBefore()
    void queue.ask('endsTold', [])
    void queue.ask('cancel', { taskId: 'a' })
    await settled()
    void queue.ask('sweep', SWEEP)
    await settled()
    for (const taskId of ['b', 'c', 'd']) {
      void queue.ask('cancel', { taskId })
      await settled()
    }
    assert.deepEqual(verbs(), [['cancel', 'endsTold'], ['sweep']])
    commit()
    await settled()
    assert.deepEqual(verbs(), [['cancel', 'endsTold'], ['sweep'], ['cancel', 'cancel', 'cancel']])
  })

  it('go in the order: settles, orders, upkeep, tasks that are brought, claims', async () => {
    const { queue, verbs } = queueBefore()
    void queue.ask('enqueue', tasksOf('acme', 1))
    void queue.ask('sweep', SWEEP)
    void queue.ask('cancel', { taskId: 'a' })
    void queue.ask('settle', [])
    void queue.ask('claim', [])
    await settled()
    assert.deepEqual(verbs(), [['settle', 'cancel', 'sweep', 'enqueue', 'claim']])
  })

  it('that bring tasks go tenant by tenant, with no more than a batch in one commit', async () => {
    const { queue, batches } = queueBefore()
    for (let call = 0; call < 3; call++) void queue.ask('enqueue', tasksOf('many', 1_000))
    void queue.ask('enqueue', tasksOf('few', 1))
    await settled()
    const lanes = batches.map(({ calls }) => calls.map(([, ask]) => (ask as NewRow[])[0]?.task[1].split(' ')[0]))
    assert.deepEqual(lanes, [['many', 'few'], ['many']])
  })

  it('keep no order waiting, however much is brought', async () => {
    const { queue, commit, verbs } = queueBefore()
    for (let call = 0; call < 500; call++) void queue.ask('enqueue', tasksOf('many', 100))
    await settled()
    void queue.ask('cancel', { taskId: 'a' })
    commit()
    await settled()
    assert.equal(verbs()[2]?.[0], 'cancel')
  })

  it('are answered with the instant of their commit, and hints are given once it is made', async () => {
    const { queue, commit, hints } = queueBefore()
    const asked = queue.ask('endsTold', [])
    await settled()
    assert.deepEqual(hints, [])
    const hint = { partition: 1, lane: 'acme https://a.example', queue: 'normal first default', dueAt: 5 }
    commit({ hints: [hint] })
    assert.deepEqual(await asked, { now: 100, answer: 'endsTold' })
    await settled()
    assert.deepEqual(hints, [hint])
  })

  it('fail alone, with the fault of the file; the others of the batch are answered', async () => {
    const { queue, commit, faults } = queueBefore()
    const asked = [queue.ask('cancel', { taskId: 'a' }), queue.ask('cancel', { taskId: 'b' })]
    await settled()
    const fault = { code: 'store-full', message: 'the disk is full' } as const
    commit({
      outcomes: [
        { kind: 'unavailable', fault },
        { kind: 'done', answer: 'b' },
      ],
    })
    const answers = await Promise.allSettled(asked)
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.deepEqual(faults, [fault])
  })

  it('end a problem of the file only when they have written to it', async () => {
    const { queue, commit, faults } = queueBefore()
    for (const hasWritten of [false, true]) {
      void queue.ask('endsTold', [])
      await settled()
      commit({ hasWritten })
      await settled()
    }
    assert.deepEqual(faults, [undefined])
  })

  it('all fail when the worker has ended, and what is asked later is asked there again', async () => {
    const { queue, answers, batches } = queueBefore()
    const asked = queue.ask('cancel', { taskId: 'a' })
    await settled()
    answers[0]?.reject(new Error('the thread has ended'))
    await assert.rejects(asked, /the thread has ended/)
    void queue.ask('cancel', { taskId: 'b' })
    await settled()
    assert.equal(batches.length, 2)
  })

  it('are all answered before the queue is drained', async () => {
    const { queue, commit } = queueBefore()
    let isDrained = false
    void queue.ask('cancel', { taskId: 'a' })
    void queue.drained().then(() => (isDrained = true))
    await settled()
    assert.equal(isDrained, false)
    commit()
    await settled()
    assert.equal(isDrained, true)
  })
})
