import { WaitDeadlineError, type RetryTask } from '@secondwind/client'
import { sayMs } from '@secondwind/lab'
import type { Answer, Option } from '../command.ts'
import { replayOthers } from '../dead/replay-others.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { duration, optional, type Reader } from '../input/read-options.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { unlessForbidden } from '../remote/unless-forbidden.ts'
import { seenWaiting } from './seen-waiting.ts'
import { holdOf, nextFor, showTask } from './task-page.ts'

const LONGEST_WAIT_MS = 86_400_000

export const WAIT_OPTION: Option = {
  flag: '--wait <duration>',
  say: 'wait so long at most for what comes of it; exit with 6 unless it succeeded',
}

interface Waiting {
  readonly waitMs: number
  readonly isEnough: (task: RetryTask) => boolean
}

/** Read before anything is done: what cannot be waited for is not begun. */
export const WAIT_READERS: { readonly wait: Reader<number | undefined> } = {
  wait: optional(duration(1, LONGEST_WAIT_MS)),
}

/** The task once it has ended, or once `isEnough`; the exit code says whether it has succeeded. */
export async function answerOnceSettled(
  call: RemoteCall,
  begun: RetryTask,
  { waitMs, isEnough }: Waiting,
): Promise<Answer> {
  const { client, clock } = call
  const wait = (): ReturnType<typeof settled> => settled(client, begun.taskId, { waitMs, isEnough })
  const seen = await unlessForbidden(seenWaiting(call, begun, { waitMs, wait }))
  if (seen === undefined)
    return {
      data: begun,
      show: page => showTask(begun, clock.now(), page),
      verdict: 'It was done. What comes of it this key may not see: that takes the scope read.',
      exitCode: EXIT_CODES.notAllowed,
    }
  const { task, isLate } = seen
  const isDone = task.status === 'SUCCEEDED'
  const hasFailed = !isDone && !isLate && task.attemptNumber > 0
  return {
    data: task,
    show: page => showTask(task, clock.now(), page),
    verdict: isDone
      ? 'It succeeded.'
      : isLate
        ? `It has not come to anything within ${sayMs(waitMs)}; it goes on.`
        : `It did not succeed${task.endedAt === undefined ? ' at this attempt; it goes on' : ''}.`,
    next: [
      // A dead letter that came through was the probe for those that died with it.
      ...(isDone && task.generation > 1 ? await replayOthers(task, call) : []),
      ...(hasFailed ? lookWhy(task, call) : nextFor(task, call, await holdOf(client, task))),
    ],
    exitCode: isDone ? EXIT_CODES.done : EXIT_CODES.no,
  }
}

/** After a probe that failed no gate is opened: whoever opened it would send all the others after it. */
function lookWhy(task: RetryTask, call: RemoteCall): readonly string[] {
  return [...new Set([call.typed('tasks', 'attempts', task.taskId), ...nextFor(task, call)])]
}

async function settled(
  client: RemoteCall['client'],
  taskId: string,
  { waitMs, isEnough }: Waiting,
): Promise<{ readonly task: RetryTask; readonly isLate: boolean }> {
  try {
    let task: RetryTask | undefined
    for await (task of client.follow(taskId, { deadline: { inMs: waitMs } })) if (isEnough(task)) break
    return { task: task!, isLate: false }
  } catch (error) {
    if (!(error instanceof WaitDeadlineError)) throw error
    // What was last told of it, if anything was within so short a wait, is older than its times: they would be in the past.
    const latest = await client.tasks.get(taskId)
    return { task: latest, isLate: latest.endedAt === undefined }
  }
}
