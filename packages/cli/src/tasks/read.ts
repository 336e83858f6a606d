import type { Attempt } from '@secondwind/client'
import { namesOf } from '../access/who.ts'
import type { Answer, Command } from '../command.ts'
import { sayHold } from '../destinations/say-gates.ts'
import { tellSlip } from '../destinations/never-used.ts'
import { durationCell, sayWhen, whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS, listProblems } from '../remote/listing.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { labelled, wrap, type Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import { answerCell } from './answers.ts'
import { FILTER_OPTIONS, readFilter, TASK_ARGUMENT } from './task-options.ts'
import { closeBreaker, gatesOf, holdOf, nextFor, sayBefore, showTask } from './task-page.ts'
import { taskTable } from './task-table.ts'

export const listCommand: Command = remoteCommand({
  path: ['tasks', 'list'],
  summary: 'tasks by status, destination, policy, attempts, error and age, the newest first',
  options: [...FILTER_OPTIONS, ...LIST_OPTIONS],
  examples: [
    'tasks list --status PENDING --attempt-from 3',
    'tasks list --error-code http-503 --created-from 2h',
    'tasks list --idempotency-key order-8812',
  ],
  run: call => {
    const now = call.clock.now()
    const filter = readFilter(call.options, now, listProblems(call.options))
    return answerList(
      call,
      {
        listing: call.client.tasks.list(filter),
        idOf: ({ taskId }) => taskId,
        tableOf: tasks => taskTable(tasks, { now, tenant: call.tenant }),
        noun: 'tasks match',
      },
      tasks => tellSlip(tasks, filter.destination, call),
    )
  },
})

export const getCommand: Command = remoteCommand({
  path: ['tasks', 'get'],
  summary: 'one task: its status, its request, and how its newest attempt ended',
  arguments: [TASK_ARGUMENT],
  examples: ['tasks get 01a1e2a2-09b8-7b02-87fa-57f25d3342be'],
  run: async call => {
    const task = await call.client.tasks.get(call.args[0] as string)
    const next = nextFor(task, call, await holdOf(call.client, task))
    const nameOf = await namesOf(task.createdBy === undefined ? [] : [task.createdBy], call)
    return { data: task, show: page => showTask(task, call.clock.now(), page, nameOf), next }
  },
})

export const attemptsCommand: Command = remoteCommand({
  path: ['tasks', 'attempts'],
  summary: 'every attempt of a task, of all generations, the first one first',
  arguments: [TASK_ARGUMENT],
  options: LIST_OPTIONS,
  examples: ['tasks attempts 01a1e2a2-09b8-7b02-87fa-57f25d3342be'],
  run: call => {
    const taskId = call.args[0] as string
    return answerList(call, {
      listing: call.client.tasks.attempts(taskId),
      idOf: ({ generation, attemptNumber }) => `${generation}.${attemptNumber}`,
      tableOf: attempts => attemptTable(attempts, call.clock.now()),
      noun: 'attempts yet',
    })
  },
})

function attemptTable(attempts: readonly Attempt[], now: number): Table {
  // Where a task was replayed there are several first attempts.
  const isReplayed = attempts.some(({ generation }) => generation > 1)
  return {
    columns: [
      { name: 'generation', align: 'right', ...(!isReplayed && { dropOrder: 2 }) },
      { name: 'attempt', field: 'attemptNumber', align: 'right' },
      { name: 'started', field: 'startedAt' },
      { name: 'took', field: 'durationMs', align: 'right' },
      { name: 'outcome' },
      { name: 'status', field: 'responseStatus', align: 'right', dropOrder: 3 },
      { name: 'error', field: 'errorCode' },
      { name: 'message', field: 'errorMessage', isProse: true },
      { name: 'answer', dropOrder: 1 },
    ],
    rows: attempts.map(one => [
      one.generation,
      one.attemptNumber,
      whenCell(one.startedAt, now),
      durationCell(one.durationMs),
      one.outcome,
      one.responseStatus ?? '',
      one.errorCode ?? '',
      one.errorMessage ?? '',
      answerCell(one.response),
    ]),
  }
}

export const explainCommand: Command = remoteCommand({
  path: ['tasks', 'explain'],
  summary: 'why a task waits, until when, and for which gate',
  arguments: [TASK_ARGUMENT],
  examples: ['tasks explain 01a1e2a2-09b8-7b02-87fa-57f25d3342be'],
  run: explain,
})

const LABEL_WIDTH = 17

async function explain(call: RemoteCall): Promise<Answer> {
  const { client, args, clock } = call
  const taskId = args[0] as string
  const [found, task] = await Promise.all([client.tasks.explain(taskId), client.tasks.get(taskId)])
  const now = clock.now()
  const { hold, nextAttemptAt, explanation, status } = found
  const show = ({ columns, colors }: Page): string => {
    const line = (label: string, text: string): string => labelled(`  ${label}`, text, { columns, width: LABEL_WIDTH })
    return [
      `${colors.bold(taskId)}  ${status}  ${task.method} ${task.targetUrl}`,
      '',
      wrap(`  ${explanation}`, columns, '  '),
      '',
      ...gatesOf(hold).map(gate => line('gate', sayHold(gate, now))),
      ...(nextAttemptAt === undefined ? [] : [line('next attempt', sayWhen(nextAttemptAt, now))]),
      line('attempts made', `${task.attemptNumber}${hold === undefined ? '' : '; waiting at a gate costs none'}`),
      ...(task.endedAt === undefined ? [line('deadline', sayWhen(task.expiresAt, now))] : []),
    ].join('\n')
  }
  const before = sayBefore(hold, call)
  return {
    data: found,
    show,
    ...(before !== undefined && { verdict: before }),
    next: [
      ...nextFor(task, call, hold).filter(line => !line.includes(' explain ')),
      // Last, below the sentence that says when.
      ...closeBreaker(hold, task.destination, call.typed),
    ],
  }
}
