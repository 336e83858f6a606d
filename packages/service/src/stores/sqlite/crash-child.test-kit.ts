/**
 * A process that works on a store until it is killed, and writes down what was acknowledged, one line each. Started with
 * the store's directory, the file of the ledger, and a number that no other child of that directory has.
 */
import { openSync, writeSync } from 'node:fs'
import { queueKey } from '../../task/lane.ts'
import type { Settlement } from '../../task/settle.ts'
import { claimedTask } from '../../task/claimed.ts'
import type { ClaimedTask } from '../../task/task.ts'
import { LANE, PARTITION, giveUp, newTask, QUEUE, retryAt, succeed } from '../exam/tasks.test-kit.ts'
import { openSqliteStore } from './sqlite-store.ts'

const [directory, ledger, child] = process.argv.slice(2) as [string, string, string]
const ledgerFile = openSync(ledger, 'a')
const store = await openSqliteStore({ directory })
let number = Number(child) * 1_000_000
const HOUR_MS = 3_600_000
const steward = `steward ${child}`

// What was written to a file is there for others, whatever happens to us then.
const say = (...words: readonly (string | number)[]): void => void writeSync(ledgerFile, `${words.join(' ')}\n`)

async function takeIn(): Promise<never> {
  for (;;) {
    const { now } = await store.health()
    const tasks = Array.from({ length: 3 }, () => {
      number++
      return newTask(number, now, number % 2 === 0 ? { idempotencyKey: `key ${number}` } : {})
    })
    await store.enqueue(tasks)
    for (const { taskId } of tasks) say('taken', taskId)
    if (number % 10 === 0) await cancel(tasks[0]!.taskId)
  }
}

async function cancel(taskId: string): Promise<void> {
  const answer = await store.cancel(taskId)
  if (answer.kind === 'changed' && answer.task.state.status === 'CANCELLED') say('ended', taskId, 'CANCELLED', 0)
}

async function deliver(): Promise<never> {
  const asks = ['first', 'retry'].map(kind => ({
    lane: LANE,
    queue: queueKey({ ...QUEUE, kind: kind as 'first' | 'retry' }),
    count: 5,
    limit: 100,
  }))
  for (;;) {
    const { answers, now } = await store.claim([{ partition: PARTITION, steward, token: `${child} ${number++}`, asks }])
    for (const answer of answers) if (answer.kind === 'claimed') await settle(answer.tasks, now)
  }
}

async function settle(tasks: readonly ClaimedTask[], now: number): Promise<void> {
  const settlements = tasks.map((task, index): Settlement => {
    if ((index + number) % 3 === 0) return retryAt(task, task.progress.attemptNumber === 0 ? now + HOUR_MS : now)
    return (index + number) % 5 === 0 ? giveUp(task) : succeed(task)
  })
  const { results } = await store.settle(settlements)
  for (const [index, result] of results.entries()) {
    const { taskId, next } = settlements[index]!
    if (result.kind === 'settled')
      say(result.status === 'PENDING' ? 'tried' : 'ended', taskId, result.status, next.progress.attemptNumber)
  }
  await recall(
    settlements.map(({ taskId }) => taskId),
    now,
  )
}

/** Those that wait for an hour; else they would wait until the test is over. */
async function recall(taskIds: readonly string[], dueAt: number): Promise<void> {
  const tasks = taskIds.slice(0, 200).map(taskId => ({ taskId, dueAt }))
  const { recalled } = await store.recall({ partition: PARTITION, steward, tasks })
  for (const taskId of recalled) say('recalled', taskId)
}

await store.take({ partition: PARTITION, instance: child, token: steward, from: null })
const { items, now } = await store.leases({ partitions: [PARTITION], haveEnded: true, limit: 1_000 })
const left = await store.get(items.map(({ taskId }) => taskId))
await settle(
  left.flatMap(task => claimedTask(task) ?? []),
  now,
)
writeSync(1, 'begun\n')
await Promise.all([takeIn(), deliver(), deliver()])
