import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { queueKey } from '../../../task/lane.ts'
import type { ClaimedTask } from '../../../task/task.ts'
import { LANE, newTask, PARTITION, QUEUE, retryAt, type TaskChanges } from '../../conformance/tasks.test-kit.ts'
import type { Enqueued } from '../../task-store.ts'
import { openFile } from '../file/file.ts'
import { claimedOf, newRow, settlementRow } from '../rows/task-rows.ts'
import { temporaryDirectory } from '../sqlite.test-kit.ts'
import type { ClaimReply } from './claim.ts'
import { commit, type Call, type Committed } from './commit.ts'
import { createWriter } from './writer.ts'

const NOW = 1_767_225_600_000
const STEWARD = 'the steward'

/** A writer without its thread. */
function setting() {
  const { connection, path, close } = openFile({ directory: temporaryDirectory() })
  onTestFinished(close)
  const writer = createWriter(connection)
  let number = 0
  let now = NOW
  const run = (...calls: readonly Call[]): Committed => commit(writer, { now, calls }, path)
  const answerOf = <Answer>(...call: Call): Answer => {
    const [outcome] = run(call).outcomes
    assert.ok(outcome?.kind === 'done', JSON.stringify(outcome))
    return outcome.answer as Answer
  }
  const enqueue = (changes: TaskChanges = {}, total = Infinity): Call => [
    'enqueue',
    { tasks: [newRow(newTask(++number, now, changes))], limits: { perLane: Infinity, total } },
  ]
  const claim = (token: string, queue = queueKey(QUEUE)): Call => [
    'claim',
    { partition: PARTITION, steward: STEWARD, token, asks: [{ lane: LANE, queue, count: 10, limit: 100 }] },
  ]
  const claimed = (call: Call): ClaimedTask[] => {
    const reply = answerOf<ClaimReply>(...call)
    assert.ok(reply.kind === 'claimed')
    return reply.held.flatMap(claimedOf)
  }
  const count = (table: string): number => connection.row<[number]>(`select count(*) from ${table}`)()![0]
  answerOf('take', { partition: PARTITION, instance: 'one', token: STEWARD, from: null })
  return { connection, run, answerOf, enqueue, claim, claimed, count, passMs: (ms: number) => (now += ms) }
}

/** A call that throws half-way: no task can be `null`. */
const BAD: Call = ['settle', [null]]

describe('a commit', () => {
  it('in which one call fails answers all the others, and keeps what they wrote', () => {
    const { run, enqueue, count, answerOf } = setting()
    const { outcomes, hasWritten } = run(enqueue(), enqueue(), BAD, enqueue(), ['counters', null])
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['done', 'done', 'failed', 'done', 'done'],
    )
    assert.equal(hasWritten, true)
    assert.equal(count('task'), 3)
    assert.deepEqual(answerOf('counters', null), {
      tasks: { PENDING: 3, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 },
    })
  })

  it('forgets nothing and counts nothing twice after a call that failed half-way', () => {
    const { connection, run, enqueue, claim, claimed, count } = setting()
    run(enqueue(), enqueue())
    connection.exec("create trigger no before insert on lease begin select raise(abort, 'no'); end")
    assert.equal(run(claim('a')).outcomes[0]?.kind, 'failed')
    connection.exec('drop trigger no')
    assert.deepEqual([count('due'), count('lease')], [2, 0])
    assert.equal(claimed(claim('b')).length, 2)
  })

  it('counts for a tenant what was written, and nothing of a call that failed', () => {
    const { run, enqueue, answerOf } = setting()
    const many = Array.from({ length: 16 }, () => enqueue())
    assert.equal(run(...many, BAD).outcomes.at(-1)?.kind, 'failed')
    assert.deepEqual(answerOf(...enqueue({}, 20)), [{ kind: 'created' }])
    assert.equal(run(enqueue({}, 20), BAD).outcomes.at(-1)?.kind, 'failed')
    assert.deepEqual(answerOf(...enqueue({}, 20)), [{ kind: 'full', scope: 'share' }])
  })

  it('gives hints only for what was written', () => {
    const { run, enqueue } = setting()
    const { hints } = run(enqueue({ dueAt: NOW + 5 }), BAD, enqueue({ dueAt: NOW + 3 }))
    assert.deepEqual(
      hints.map(({ lane, dueAt }) => [lane, dueAt]),
      [
        [LANE, NOW + 5],
        [LANE, NOW + 3],
      ],
    )
    assert.deepEqual(run(BAD).hints, [])
  })

  it('that changes nothing writes nothing', () => {
    const { run, claim } = setting()
    assert.equal(run(claim('a'), ['get', 'unheard-of'], ['cancel', { taskId: 'unheard-of' }]).hasWritten, false)
  })

  it('lets a take in before a claim, so that the former steward is refused', () => {
    const { run, enqueue, claim } = setting()
    run(enqueue())
    const take: Call = ['take', { partition: PARTITION, instance: 'other', token: 'another', from: STEWARD }]
    const { outcomes } = run(claim('a'), take)
    assert.deepEqual(outcomes, [
      { kind: 'done', answer: { kind: 'refused' } },
      { kind: 'done', answer: true },
    ])
  })
})

describe('a key that somebody chose', () => {
  it('stands in the way of a task that has it for its id, as that would have stood in its own', () => {
    const { answerOf, enqueue } = setting()
    const { taskId } = newTask(77, NOW)
    const chosen = { idempotencyKey: taskId, keyGiven: true, requestHash: 'the same' }
    assert.deepEqual(answerOf(...enqueue(chosen)), [{ kind: 'created' }])
    const [answer] = answerOf<Enqueued[]>(...enqueue({ taskId, requestHash: 'the same' }))
    assert.ok(answer?.kind === 'existing')
    assert.notEqual(answer.task.taskId, taskId)
  })
})

describe('what a task leaves on the disk', () => {
  it('is one row for each attempt, and one more at most, however often somebody makes it due', () => {
    const { run, enqueue, claim, claimed, count, answerOf, passMs } = setting()
    run(enqueue())
    const [task] = claimed(claim('a'))
    answerOf('settle', [settlementRow(retryAt(task!, NOW + 60_000))])
    for (let n = 0; n < 20; n++) {
      passMs(1)
      answerOf('attemptNow', { taskId: task!.taskId })
      const tasks = [{ taskId: task!.taskId, dueAt: NOW - n }]
      assert.deepEqual(answerOf('recall', { partition: PARTITION, steward: STEWARD, tasks }), [task!.taskId])
    }
    assert.deepEqual([count('log'), count('due')], [2, 1])
    const urgent = queueKey({ ...QUEUE, kind: 'retry', rank: 'urgent' })
    const [again] = claimed(claim('b', urgent))
    answerOf('settle', [settlementRow(retryAt(again!, NOW + 90_000))])
    answerOf('cancel', { taskId: task!.taskId })
    assert.deepEqual([count('log'), count('due'), count('lease')], [4, 0, 0])
  })

  it('is nothing once it was swept, and rows that come then are swept in their turn', () => {
    const { run, enqueue, count, answerOf, passMs } = setting()
    const tables = ['task', 'log', 'due', 'lease', 'idempotency', 'dead', 'cause', 'span']
    for (let generation = 0; generation < 3; generation++) {
      const [row] = (enqueue({ idempotencyKey: 'a' })[1] as { tasks: [[[string]]] }).tasks
      answerOf('enqueue', { tasks: [row], limits: { perLane: 9, total: 9 } })
      answerOf('cancel', { taskId: row[0][0] })
      passMs(1)
      const before = NOW + generation + 1
      run(['sweep', { finishedBefore: before, deadBefore: before, keysBefore: before, limit: 9 }])
      assert.deepEqual(tables.map(count), [0, 0, 0, 0, 0, 0, 0, 0])
    }
  })
})
