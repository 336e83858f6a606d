/** A wait that is seen to go on, on stderr: for which task, and what it waits for meanwhile. */
import type { RetryTask } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import { sayHold } from '../destinations/say-gates.ts'
import { sayDistance } from '../output/say-time.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { showProgress } from '../terminal/progress.ts'
import { sayStopped } from './watch.ts'

/** A gate may shut, or open, without any change of the task. */
const LOOK_MS = 1_000

/** What `wait` comes to. An interrupt ends it, never the task. */
export async function seenWaiting<Value>(
  call: RemoteCall,
  { taskId }: Pick<RetryTask, 'taskId'>,
  { waitMs, wait }: { readonly waitMs: number; readonly wait: () => Promise<Value> },
): Promise<Value> {
  const { terminal, clock } = call
  // First of all: whatever becomes of whoever waits, the task can be found again.
  terminal.tell(`waiting for ${taskId}, ${sayMs(waitMs)} at most\n`)
  const ended = new AbortController()
  let note = ''
  const look = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      note = await noteOf(call, taskId, ended.signal)
      await clock.sleep(LOOK_MS, ended.signal)
    }
  }
  // The only thing that ends its sleep is the end of the wait.
  look().catch(() => undefined)
  const progress = showProgress(terminal, { label: 'waiting', note: () => note, clock })
  const forget = terminal.onInterrupt?.(() => terminal.tell(sayStopped(call, taskId)))
  try {
    return await wait()
  } finally {
    ended.abort()
    progress.end()
    forget?.()
  }
}

async function noteOf({ client, clock }: RemoteCall, taskId: string, signal: AbortSignal): Promise<string> {
  try {
    const { status, hold, nextAttemptAt } = await client.tasks.explain(taskId, { signal })
    if (status === 'IN_FLIGHT') return 'an attempt is under way'
    if (hold !== undefined) return `held by ${sayHold(hold, clock.now())}`
    return nextAttemptAt === undefined ? '' : `next attempt ${sayDistance(nextAttemptAt, clock.now())}`
  } catch {
    // Whether there is anything to wait for the wait itself finds out: of a note nothing is missing but the words.
    return ''
  }
}
