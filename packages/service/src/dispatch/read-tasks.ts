import { claimedTask } from '../task/claimed.ts'
import type { ClaimedTask, Task } from '../task/task.ts'
import type { LeaseHead } from '../stores/store.ts'
import type { DispatchPorts } from './ports.ts'

type Asked = Pick<DispatchPorts, 'calls' | 'store'>

/** An answer has the bodies of all its tasks. */
const TASKS_PER_CALL = 100

/** In the order asked; undefined when the store gave no answer. */
export async function readTasks(
  { calls, store }: Asked,
  taskIds: readonly string[],
): Promise<readonly Task[] | undefined> {
  const tasks: Task[] = []
  for (let at = 0; at < taskIds.length; at += TASKS_PER_CALL) {
    const answer = await calls.read(() => store.get(taskIds.slice(at, at + TASKS_PER_CALL)))
    if (answer === undefined) return undefined
    tasks.push(...answer.value)
  }
  return tasks
}

/** The tasks that are still held under these leases; undefined when the store gave no answer. */
export async function readLeased(
  ports: Asked,
  leases: readonly LeaseHead[],
): Promise<readonly ClaimedTask[] | undefined> {
  const tokens = new Map(leases.map(({ taskId, token }) => [taskId, token]))
  const tasks = await readTasks(ports, [...tokens.keys()])
  return tasks?.flatMap(task => {
    const claimed = claimedTask(task)
    // A lease that ended meanwhile may have been followed by another, which is not meant.
    return claimed !== undefined && claimed.lease.token === tokens.get(task.taskId) ? [claimed] : []
  })
}
