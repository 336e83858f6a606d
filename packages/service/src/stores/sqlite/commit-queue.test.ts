import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { NO_LIMITS } from '../conformance/exam.test-kit.ts'
import type { Hint } from '../task-store.ts'
import { createCommitQueue, type CommitQueue } from './commit-queue.ts'
import type { Keeping } from './file/disk.ts'
import { NOTHING_YET, type Extent } from './rows/extent.ts'
import type { NewRow } from './rows/task-rows.ts'
import type { Batch, Committed } from './writer/commit.ts'
import type { EnqueueAsk } from './writer/enqueue.ts'

/** A queue in front of a thread that answers when the test says so, and a disk that keeps at once unless it is told to wait. */
function queueBefore({ keep = async () => {}, keepSoon = keep, hurry = () => {} }: Partial<Keeping> = {}) {
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
    disk: { keep, keepSoon, hurry },
    now: () => now++,
    onHints: heard => hints.push(...heard),
    onWrite: problem => problems.push(problem?.message),
    onUnkept: error => new Error(`not kept: ${(error as Error).message}`),
  })
  let committed = 0
  /** The earliest batch that was not. */
  const commit = (change: Partial<Committed> = {}): void => {
    const outcomes = batches[committed]!.calls.map(([verb]) => ({ kind: 'done', answer: verb }) as const)
    answers[committed++]!.resolve({ outcomes, hints: [], hasWritten: true, extent: NOTHING_YET, ...change })
  }
  const verbs = (): string[][] => batches.map(({ calls }) => calls.map(([verb]) => verb))
  return { queue, commit, verbs, batches, answers, problems, hints }
}

/** So many tasks of a tenant; what else they are matters to the thread alone. */
function bringing(tenant: string, count: number): EnqueueAsk {
  const row = [[], `${tenant} https://api.example`, '', 0, '', null] as unknown as NewRow
  return { tasks: Array.from({ length: count }, () => row), limits: NO_LIMITS }
}

/** A turn for what was asked, and one for what the answers lead to. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) await new Promise(resolve => setImmediate(resolve))
}

describe('calls that wait for the disk', () => {
  it('go together when they come together, one batch behind another; those that come meanwhile go with the next', async () => {
    const { queue, commit, verbs } = queueBefore()
    void queue.ask('get', 'a')
    void queue.ask('cancel', { taskId: 'a' })
    await settled()
    void queue.ask('body', { tenant: 'a', bodyRef: 'b' })
    await settled()
    for (const id of ['b', 'c', 'd']) {
      void queue.ask('get', id)
      await settled()
    }
    assert.deepEqual(verbs(), [['cancel', 'get'], ['body']])
    commit()
    await settled()
    assert.deepEqual(verbs(), [['cancel', 'get'], ['body'], ['get', 'get', 'get']])
  })

  it('go settles first, then releases, then orders, then the others as they came, then what is brought, then claims', async () => {
    const { queue, verbs } = queueBefore()
    void queue.ask('claim', { partition: 0, steward: '', token: '', asks: [] })
    void queue.ask('enqueue', bringing('acme', 1))
    void queue.ask('sweep', { finishedBefore: 0, deadBefore: 0, keysBefore: 0, limit: 0 })
    void queue.ask('cancel', { taskId: 'a' })
    void queue.ask('release', [])
    void queue.ask('get', 'a')
    void queue.ask('settle', [])
    await settled()
    assert.deepEqual(verbs(), [['settle', 'release', 'cancel', 'sweep', 'get', 'enqueue', 'claim']])
  })

  it('keep no order waiting, however much is brought and read', async () => {
    const { queue, verbs } = queueBefore()
    for (let n = 0; n < 500; n++) void queue.ask('enqueue', bringing('acme', 1_000))
    for (let n = 0; n < 500; n++) void queue.ask('get', 'a')
    void queue.ask('writeRecord', { kind: 'destination', id: 'a', tenant: 'acme', document: {}, ifVersion: 0 })
    await settled()
    assert.equal(verbs()[0]![0], 'writeRecord')
  })

  it('that bring tasks go tenant by tenant, with no more than a batch in one commit', async () => {
    const { queue, commit, batches } = queueBefore()
    for (let n = 0; n < 3; n++) void queue.ask('enqueue', bringing('busy', 1_000))
    for (const tenant of ['quiet', 'calm']) void queue.ask('enqueue', bringing(tenant, 1))
    await settled()
    for (let n = 0; n < 2; n++) {
      commit()
      await settled()
    }
    const brought = batches.map(({ calls }) => calls.map(([, ask]) => (ask as EnqueueAsk).tasks[0]![1].split(' ')[0]))
    assert.deepEqual(brought, [['busy', 'quiet', 'calm'], ['busy'], ['busy']])
  })

  it('begin at once with a claim, which takes along what was asked before it and waits for no turn', async () => {
    const { queue, verbs } = queueBefore()
    void queue.ask('get', 'a')
    void queue.ask('settle', [])
    void queue.ask('claim', { partition: 0, steward: 's', token: 't', asks: [] })
    await Promise.resolve()
    assert.deepEqual(verbs(), [['settle', 'get', 'claim']])
    await settled()
    assert.equal(verbs().length, 1)
  })

  it('let claims in however many others wait', async () => {
    const { queue, verbs } = queueBefore()
    for (let n = 0; n < 5_000; n++) void queue.ask('get', 'a')
    void queue.ask('claim', { partition: 0, steward: '', token: '', asks: [] })
    await settled()
    assert.deepEqual([verbs()[0]!.length, verbs()[0]!.at(-1)], [33, 'claim'])
  })

  it('are answered each by its own outcome, with the instant of their commit', async () => {
    const { queue, commit, problems } = queueBefore()
    const asked = Promise.allSettled([
      queue.ask('cancel', { taskId: 'a' }),
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

describe('what was committed', () => {
  const CLAIM = { partition: 0, steward: '', token: '', asks: [] }

  /** A disk that keeps when the test says so. */
  function slowDisk() {
    const waits: { resolve(): void; reject(error: Error): void }[] = []
    const keep = (): Promise<void> => new Promise((resolve, reject) => waits.push({ resolve, reject }))
    const answered: string[] = []
    const before = queueBefore({ keep })
    const ask = (name: string, ...[verb, asked]: Parameters<CommitQueue['ask']>): void =>
      void before.queue.ask(verb, asked).then(
        () => answered.push(name),
        (error: Error) => answered.push(`${name}: ${error.message}`),
      )
    return { ...before, waits, answered, ask }
  }

  const done = (answer: unknown) => ({ kind: 'done', answer }) as const
  const claimed = (taken: Extent) => done({ kind: 'claimed', held: [], heads: [], taken })

  it('is answered when it is on the disk; neither a claim waits for it, nor the next commit', async () => {
    const { ask, commit, waits, answered, verbs } = slowDisk()
    ask('claim', 'claim', CLAIM)
    ask('cancel', 'cancel', { taskId: 'a' })
    await settled()
    commit({ outcomes: [done(null), claimed(NOTHING_YET)] })
    await settled()
    assert.deepEqual(answered, ['claim'])
    ask('next', 'cancel', { taskId: 'b' })
    await settled()
    assert.deepEqual(verbs().at(-1), ['cancel'])
    waits[0]!.resolve()
    await settled()
    assert.deepEqual(answered, ['claim', 'cancel'])
  })

  it('is claimed by nobody before it is on the disk, be it new or changed', async () => {
    for (const newest of ['newestTask', 'newestEntry'] as const) {
      const { ask, commit, waits, answered } = slowDisk()
      const extent = { newestTask: 7, newestEntry: 9, [newest]: 10 }
      const claimOf = async (name: string, taken: Extent): Promise<void> => {
        ask(name, 'claim', CLAIM)
        await settled()
        commit({ outcomes: [claimed(taken)], extent })
        await settled()
      }
      await claimOf('of what is new', extent)
      assert.deepEqual(answered, [])
      waits[0]!.resolve()
      await settled()
      assert.deepEqual(answered, ['of what is new'])
      await claimOf('of what is kept', extent)
      assert.deepEqual(answered, ['of what is new', 'of what is kept'])
      await claimOf('of what is newer', { ...extent, [newest]: 11 })
      assert.equal(answered.length, 2)
    }
  })

  it('is told of to those who serve it when it is on the disk, and not before', async () => {
    const { ask, commit, waits, hints } = slowDisk()
    ask('cancel', 'cancel', { taskId: 'a' })
    await settled()
    commit({ hints: [{ partition: 0, lane: 'a', queue: 'b', dueAt: 0 }] })
    await settled()
    assert.equal(hints.length, 0)
    waits[0]!.resolve()
    await settled()
    assert.equal(hints.length, 1)
  })

  it('is read by nobody before it is on the disk', async () => {
    const { ask, commit, waits, answered } = slowDisk()
    ask('cancel', 'cancel', { taskId: 'a' })
    await settled()
    commit()
    await settled()
    ask('get', 'get', 'a')
    await settled()
    commit({ hasWritten: false })
    await settled()
    assert.deepEqual([answered, waits.length], [[], 1])
    waits[0]!.resolve()
    await settled()
    assert.deepEqual(answered, ['cancel', 'get'])
  })

  it('is kept soon if it only ended attempts, and at once if anybody waits for it', async () => {
    const asked: string[] = []
    const noting = (word: string) => async () => void asked.push(word)
    const { queue, commit } = queueBefore({
      keep: noting('now'),
      keepSoon: noting('soon'),
      hurry: () => asked.push('hurry'),
    })
    const committed = async (
      change: Partial<Committed>,
      ...calls: Parameters<CommitQueue['ask']>[]
    ): Promise<string[]> => {
      for (const [verb, ask] of calls) void queue.ask(verb, ask)
      await settled()
      commit(change)
      await settled()
      return asked.splice(0)
    }
    assert.deepEqual(await committed({}, ['settle', []], ['release', []]), ['soon'])
    const extent = { newestTask: 7, newestEntry: 7 }
    assert.deepEqual(
      await committed({ outcomes: [done([]), claimed(NOTHING_YET)], extent }, ['settle', []], ['claim', CLAIM]),
      ['soon'],
    )
    const beyond = { newestTask: 8, newestEntry: 8 }
    assert.deepEqual(await committed({ outcomes: [done([]), claimed(beyond)] }, ['settle', []], ['claim', CLAIM]), [
      'now',
    ])
    assert.deepEqual(await committed({}, ['settle', []], ['cancel', { taskId: 'a' }]), ['now'])
    assert.deepEqual(await committed({ hasWritten: false }, ['get', 'a']), ['hurry'])
    assert.deepEqual(await committed({ hasWritten: false }, ['settle', []]), [])
  })

  it('fails for whoever waits when the disk cannot keep it, and the queue is drained all the same', async () => {
    const { ask, commit, waits, answered, problems, queue } = slowDisk()
    ask('cancel', 'cancel', { taskId: 'a' })
    await settled()
    commit()
    await settled()
    waits[0]!.reject(new Error('EIO'))
    await queue.drained()
    assert.deepEqual([answered, problems], [['cancel: not kept: EIO'], ['not kept: EIO']])
  })
})
