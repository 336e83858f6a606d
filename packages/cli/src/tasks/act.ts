/** One task, acted upon; with `--wait` until it is known what came of it. */
import type { Client, RetryTask } from '@secondwind/client'
import type { Answer, Command } from '../command.ts'
import { sayHold } from '../destinations/say-gates.ts'
import { confirm, YES_OPTION } from '../input/confirm.ts'
import { readOptions } from '../input/read-options.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { unlessForbidden } from '../remote/unless-forbidden.ts'
import { createPage } from '../terminal/page.ts'
import { TASK_ARGUMENT } from './task-options.ts'
import { gatesOf, holdOf, isForEveryAttempt, nextFor, showTask } from './task-page.ts'
import { answerOnceSettled, WAIT_OPTION, WAIT_READERS } from './settled.ts'

const EXAMPLE_ID = '01a1e2a2-09b8-7b02-87fa-57f25d3342be'

export const cancelCommand: Command = remoteCommand({
  path: ['tasks', 'cancel'],
  summary: 'ends a task that has not ended; an attempt under way is cut off',
  arguments: [TASK_ARGUMENT],
  options: [YES_OPTION],
  examples: [`tasks cancel ${EXAMPLE_ID}`, `tasks cancel ${EXAMPLE_ID} --yes`],
  isChange: true,
  run: async call => {
    const { client, clock, terminal, typed } = call
    const taskId = call.args[0] as string
    const task = await unlessForbidden(client.tasks.get(taskId))
    const { columns, hasColors, isAscii } = terminal.err
    const shows =
      task === undefined
        ? `${taskId}, which this key may not see`
        : showTask(task, clock.now(), createPage({ columns, hasColors, isAscii }))
    // What has ended needs no question: the service says what can be done with it.
    if (task?.endedAt === undefined) await confirm(call, { ask: 'cancel this task', shows })
    const cancelled = await client.tasks.cancel(taskId)
    return {
      data: cancelled,
      show: () =>
        cancelled.status === 'CANCELLED'
          ? `cancelled ${cancelled.taskId}`
          : `cancelling ${cancelled.taskId}: its last attempt is being cut off`,
      next: [typed('tasks', cancelled.status === 'CANCELLED' ? 'get' : 'watch', cancelled.taskId)],
    }
  },
})

export const attemptNowCommand: Command = actCommand({
  verb: 'attempt-now',
  summary:
    'makes the next attempt now, before all others of its destination; it passes a pause of its tenant, and no other gate',
  act: (client, taskId) => client.tasks.attemptNow(taskId),
})

export const replayCommand: Command = actCommand({
  verb: 'replay',
  summary: 'begins again with a dead letter: the same id and key, attempts from 0, time from now',
  act: (client, taskId) => client.tasks.replay(taskId),
})

interface Act {
  readonly verb: string
  readonly summary: string
  readonly act: (client: Client, taskId: string) => Promise<RetryTask>
}

function actCommand({ verb, summary, act }: Act): Command {
  return remoteCommand({
    path: ['tasks', verb],
    summary,
    arguments: [TASK_ARGUMENT],
    options: [WAIT_OPTION],
    examples: [`tasks ${verb} ${EXAMPLE_ID}`, `tasks ${verb} ${EXAMPLE_ID} --wait 30s`],
    isChange: true,
    run: call => actOn(call, { verb, act }),
  })
}

async function actOn(call: RemoteCall, { verb, act }: Pick<Act, 'verb' | 'act'>): Promise<Answer> {
  const { client, args, clock, typed, options } = call
  const { wait: waitMs } = readOptions(options, WAIT_READERS)
  const task = await act(client, args[0] as string)
  // One attempt is what was asked for: what comes of it is the answer.
  const isEnough = (now: RetryTask): boolean =>
    now.status !== 'IN_FLIGHT' && (now.attemptNumber > task.attemptNumber || now.generation > task.generation)
  const isNews = (line: string): boolean => !line.includes(` ${verb} `)
  if (waitMs !== undefined) return answerOnceSettled(call, task, { waitMs, isEnough })
  const hold = await holdOf(client, task)
  const shut = gatesOf(hold).find(isForEveryAttempt)
  return {
    data: task,
    show: page => showTask(task, clock.now(), page),
    ...(shut !== undefined && { verdict: `It waits all the same: ${sayHold(shut, clock.now())}.` }),
    next: [...new Set([typed('tasks', 'watch', task.taskId), ...nextFor(task, call, hold).filter(isNews)])],
  }
}
