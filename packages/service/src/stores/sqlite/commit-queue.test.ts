import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Hint } from '../task-store.ts'
import { createCommitQueue, type CommitQueue } from './commit-queue.ts'
import type { Batch, Committed } from './writer/commit.ts'

/** A queue in front of a thread that answers when the test says so. */
function queueBefore() {
  const batches: Batch[] = []
  const answers: { resolve(committed: Committed): void; reject(error: Error): void }[] = []
  const problems: (string | undefined)[] = []
  const hints: Hint[] = []
  let now = 100
  const queue: CommitQueue = createCommitQueue({
    thread: {
      ask: batch => {
        batches.push(batch)
        return new Promise((resolve, reject) => answers.push({ resolve, reject }))
      },
      close: async () => {},
    },
    now: () => now++,
    onHints: heard => hints.push(...heard),
    onWrite: problem => problems.push(problem?.message),
  })
  const commit = (change: Partial<Committed> = {}): void => {
    const outcomes = batches.at(-1)!.calls.map(([verb]) => ({ kind: 'done', answer: verb }) as const)
    answers.at(-1)!.resolve({ outcomes, hints: [], hasWritten: true, ...change })
  }
  const verbs = (): string[][] => batches.map(({ calls }) => calls.map(([verb]) => verb))
  return { queue, commit, verbs, answers, problems, hints }
}

/** Longer than any chain of promises here. */
/** A turn for what was asked, and one for what the answers lead to. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('calls that wait for the disk', () => {
  it('go together when they come together, and those that come meanwhile go with the next', async () => {
    const { queue, commit, verbs } = queueBefore()
    void queue.ask('get', 'a')
    void queue.ask('cancel', { taskId: 'a' })
    await settled()
    for (const id of ['b', 'c', 'd']) void queue.ask('get', id)
    await settled()
    assert.deepEqual(verbs(), [['get', 'cancel']])
    commit()
    await settled()
    assert.deepEqual(verbs(), [
      ['get', 'cancel'],
      ['get', 'get', 'get'],
    ])
  })

  it('go settles first, then releases, then the others as they came, then claims', async () => {
    const { queue, verbs } = queueBefore()
    void queue.ask('claim', { partition: 0, steward: '', token: '', asks: [] })
    void queue.ask('sweep', { finishedBefore: 0, deadBefore: 0, keysBefore: 0, limit: 0 })
    void queue.ask('release', [])
    void queue.ask('get', 'a')
    void queue.ask('settle', [])
    await settled()
    assert.deepEqual(verbs(), [['settle', 'release', 'sweep', 'get', 'claim']])
  })

  it('let claims in however many others wait', async () => {
    const { queue, verbs } = queueBefore()
    for (let n = 0; n < 5_000; n++) void queue.ask('get', 'a')
    void queue.ask('claim', { partition: 0, steward: '', token: '', asks: [] })
    await settled()
    assert.deepEqual([verbs()[0]!.length, verbs()[0]!.at(-1)], [1_001, 'claim'])
  })

  it('are answered each by its own outcome, with the instant of their commit', async () => {
    const { queue, commit, problems } = queueBefore()
    const asked = Promise.allSettled([
      queue.ask('get', 'a'),
      queue.ask('cancel', { taskId: 'b' }),
      queue.ask('get', 'c'),
    ])
    await settled()
    const fault = { code: 'store-full', message: 'no room' } as const
    const done = { kind: 'done', answer: undefined } as const
    commit({ outcomes: [done, { kind: 'unavailable', fault }, { kind: 'failed', message: 'a bug' }] })
    const [first, second, third] = await asked
    assert.deepEqual(first, { status: 'fulfilled', value: { now: 100, answer: undefined } })
    assert.ok(second.status === 'rejected' && third.status === 'rejected')
    assert.deepEqual(
      [second.reason.code, second.reason.message, third.reason.message],
      ['store-full', 'no room', 'a bug'],
    )
    assert.deepEqual(problems, ['no room'])
  })

  it('say that the disk is well again when something was written, and only then', async () => {
    const { queue, commit, problems } = queueBefore()
    void queue.ask('get', 'a')
    await settled()
    commit({ hasWritten: false })
    await settled()
    assert.deepEqual(problems, [])
    void queue.ask('cancel', { taskId: 'a' })
    await settled()
    commit()
    await settled()
    assert.deepEqual(problems, [undefined])
  })

  it('fail together when the thread is gone, and are asked again by nobody', async () => {
    const { queue, answers, problems } = queueBefore()
    const asked = [queue.ask('get', 'a'), queue.ask('get', 'b')]
    await settled()
    answers[0]!.reject(new Error('gone'))
    for (const call of asked) await assert.rejects(call, { message: 'gone' })
    assert.deepEqual(problems, ['gone'])
    await queue.drained()
  })

  it('are all answered when the queue is drained', async () => {
    const { queue, commit } = queueBefore()
    let isDrained = false
    const answered = queue.ask('get', 'a')
    const drained = queue.drained().then(() => (isDrained = true))
    await settled()
    assert.equal(isDrained, false)
    commit()
    await answered
    await drained
    await queue.drained()
  })
})
