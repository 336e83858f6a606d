/** Callers that ask for their tasks in turn, until they see how each has ended. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './ask.ts'
import type { ShownTask } from './audit.ts'
import type { Ledger, TaskEntry } from './ledger.ts'
import type { Lives } from './lives.ts'

const WATCHERS = 4
const PAUSE_MS = 2

/** Resolves when no more tasks are submitted, and every accepted one has been seen to have ended. */
export async function watch(ledger: Ledger, lives: Lives, submitting: Promise<unknown>): Promise<void> {
  let isSubmitted = false
  const watchOne = async (): Promise<void> => {
    while (!isSubmitted || ledger.unsettled.size > 0) {
      const [task] = ledger.unsettled
      if (task !== undefined) await look(ledger, lives, task)
      await sleep(PAUSE_MS)
    }
  }
  const watching = Array.from({ length: WATCHERS }, watchOne)
  await Promise.all([submitting.then(() => (isSubmitted = true)), ...watching])
}

async function look(ledger: Ledger, lives: Lives, task: TaskEntry): Promise<void> {
  // The last in turn now: another watcher takes the next one.
  ledger.unsettled.delete(task)
  ledger.unsettled.add(task)
  const answered = await ask(`${await lives.url()}/retry-tasks/${task.taskId}`)
  if (answered === undefined || answered.status === 429 || answered.status === 503) return
  const at = Date.now()
  if (answered.status !== 200) return ledger.broken(task, `GET is answered ${answered.status}`, at)
  const { status } = JSON.parse(answered.text) as ShownTask
  if (status === 'SUCCEEDED' || status === 'EXHAUSTED') ledger.settled(task, status, at)
  else if (status === 'CANCELLED') ledger.broken(task, 'is CANCELLED, which no caller has asked for', at)
}
