/** Dead letters: what tasks died of first, then which. */
import type { Cause, Hold, RetryTask } from '@secondwind/client'
import type { Answer, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { given } from '../input/given.ts'
import { optional, readOptions, text } from '../input/read-options.ts'
import { sayCount } from '../output/say-count.ts'
import { sayWhen, whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS, listProblems, readItems } from '../remote/listing.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { ofTenant, tenantColumn, whoseFlag } from '../remote/whose.ts'
import { labelled, type Page } from '../terminal/page.ts'
import { showTable, type Table } from '../terminal/table.ts'
import { lastAnswer } from '../tasks/answers.ts'
import { gatesOf, isForEveryAttempt, PROBE_WAIT } from '../tasks/task-page.ts'
import { taskTable } from '../tasks/task-table.ts'
import { CAUSE_OPTION, DESTINATION_OPTION } from '../tasks/which-tasks.ts'
import { tellSlip } from '../destinations/never-used.ts'
import { openGate, typedAsOwner } from '../steering/open-gate.ts'
import { nameOf } from '../steering/watch-it.ts'
import { adviceFor, isMended, sayWhy } from './advice.ts'

interface DeadFilter {
  readonly destination?: string
  readonly causeId?: string
}

function filterOf({ options }: RemoteCall): DeadFilter {
  const readers = { destination: optional(text()), causeId: optional(text()) }
  return given(readOptions(options, readers, listProblems(options)))
}

const causesCommand: Command = remoteCommand({
  path: ['dead', 'causes'],
  summary: 'what tasks died of, the most numerous cause first',
  options: [DESTINATION_OPTION, ...LIST_OPTIONS],
  examples: ['dead causes', 'dead causes --destination https://api.pay.example'],
  run: call => {
    const filter = filterOf(call)
    return answerList(
      call,
      {
        listing: call.client.deadLetters.groups(filter),
        idOf: ({ causeId }) => causeId,
        tableOf: causes => causeTable(causes, call),
        noun: 'dead letters',
      },
      causes => {
        const [first] = causes
        if (first === undefined) return tellSlip(causes, filter.destination, call)
        return { next: [call.typed('dead', 'show', first.causeId)] }
      },
    )
  },
})

function causeTable(causes: readonly Cause[], { clock, tenant }: RemoteCall): Table {
  const now = clock.now()
  return {
    columns: [
      { name: 'causeId' },
      { name: 'tasks', field: 'count', align: 'right' },
      { name: 'reason' },
      { name: 'error', field: 'errorCode' },
      { name: 'last', field: 'lastAt' },
      { name: 'first', field: 'firstAt', dropOrder: 2 },
      { name: 'destination', isBelow: true },
      { name: 'do', dropOrder: 1 },
      { name: 'errorMessage', isOnlyData: true },
      { name: 'heldBy', isOnlyData: true },
      { ...tenantColumn(causes, tenant), isBelow: true },
    ],
    rows: causes.map(one => [
      one.causeId,
      one.count,
      { value: one.reason, say: sayWhy(one) },
      one.errorCode ?? '',
      whenCell(one.lastAt, now),
      whenCell(one.firstAt, now),
      one.destination,
      adviceFor(one),
      one.errorMessage ?? '',
      one.heldBy ?? '',
      one.tenant,
    ]),
  }
}

const listCommand: Command = remoteCommand({
  path: ['dead', 'list'],
  summary: 'dead letters one by one, the latest death first',
  options: [CAUSE_OPTION, DESTINATION_OPTION, ...LIST_OPTIONS],
  examples: ['dead list', 'dead list --destination https://api.pay.example --ids'],
  run: call => {
    const filter = filterOf(call)
    const { causeId } = filter
    return answerList(
      call,
      {
        listing: call.client.deadLetters.list(filter),
        idOf: ({ taskId }) => taskId,
        tableOf: tasks => taskTable(tasks, { now: call.clock.now(), tenant: call.tenant, areDead: true }),
        noun: 'dead letters',
      },
      tasks => {
        if (tasks.length > 0 || causeId === undefined) return tellSlip(tasks, filter.destination, call)
        call.terminal.tell(`${sayNoSuch(causeId)}. ${GONE}\n`)
        return { next: [call.typed('dead', 'causes')] }
      },
    )
  },
})

const GONE = 'A cause is gone when the last of its tasks has been replayed or forgotten.'

function sayNoSuch(causeId: string): string {
  return `no dead letter died of ${causeId}`
}

const showCommand: Command = remoteCommand({
  path: ['dead', 'show'],
  summary: 'one cause: what the target said last, and some of the tasks that died of it',
  arguments: [{ usage: '<causeId>', say: 'the id of a cause, as dead causes has it, such as 0fb94dcade44166d' }],
  examples: ['dead show 0fb94dcade44166d'],
  run: show,
})

/** So many tasks of a cause are enough to see what they have in common. */
const SAMPLE = 5

async function show(call: RemoteCall): Promise<Answer> {
  const { client, args, clock, typed } = call
  const causeId = args[0] as string
  const cause = await findCause(client, causeId, typed)
  const { items: tasks } = await readItems(client.deadLetters.list({ causeId }), SAMPLE)
  const said = tasks[0] && (await lastAnswer(call, tasks[0].taskId))
  const now = clock.now()
  const shown = (page: Page): string => {
    const line = (label: string, words: string): string =>
      labelled(`  ${label}`, words, { columns: page.columns, width: LABEL_WIDTH })
    return [
      `${page.colors.bold(causeId)}  ${sayCount(cause.count, 'task')}${ofTenant(cause)}  ${cause.destination}`,
      '',
      line('reason', sayWhy(cause)),
      ...(cause.errorCode === undefined
        ? []
        : [line('error', [cause.errorCode, cause.errorMessage].filter(Boolean).join(': '))]),
      ...(said === undefined ? [] : [line('answer', said)]),
      line('first', sayWhen(cause.firstAt, now)),
      line('last', sayWhen(cause.lastAt, now)),
      line('do', adviceFor(cause)),
      '',
      showTable(taskTable(tasks, { now, tenant: cause.tenant, areDead: true }), page),
    ].join('\n')
  }
  const [sample] = tasks
  return {
    data: { ...cause, ...(said !== undefined && { lastAnswer: said }), tasks },
    show: shown,
    next: [
      ...(sample === undefined ? [] : [typed('tasks', 'attempts', sample.taskId)]),
      ...(sample === undefined || isMended(cause) ? [] : await probeWith(sample, call)),
      ...(isMended(cause) || cause.count < 2
        ? []
        : [typed('replay', 'plan', '--cause-id', causeId, ...whoseFlag(cause, call.tenant))]),
      typed('dead', 'list', '--cause-id', causeId),
    ],
  }
}

/** One goes first, and before all others: it passes a pause of its tenant, and what it cannot pass is opened before. */
async function probeWith(sample: RetryTask, call: RemoteCall): Promise<string[]> {
  const { taskId, destination, tenant } = sample
  const { client, typed } = call
  const one = await client.destinations.get(destination)
  const lane = one.tenants?.find(each => each.tenant === tenant) ?? one
  const gates = gatesOf(lane.hold)
  const opened = (isMeant: (gate: Hold) => boolean): string[] =>
    gates.filter(isMeant).flatMap(gate => openGate(gate, nameOf(one), typedAsOwner(gate, sample, call)) ?? [])
  const shut = opened(isForEveryAttempt)
  if (shut.length > 0) return [...shut, typed('tasks', 'replay', taskId)]
  if (!gates.some(({ reason }) => reason === 'paused')) return [typed('tasks', 'replay', taskId, ...PROBE_WAIT)]
  return [
    typed('tasks', 'replay', taskId),
    typed('tasks', 'attempt-now', taskId, ...PROBE_WAIT),
    ...opened(gate => !isForEveryAttempt(gate)),
  ]
}

const LABEL_WIDTH = 11

async function findCause(client: RemoteCall['client'], causeId: string, typed: RemoteCall['typed']): Promise<Cause> {
  for await (const cause of client.deadLetters.groups()) if (cause.causeId === causeId) return cause
  throw new Failure({
    code: 'not-found',
    what: sayNoSuch(causeId),
    because: [GONE],
    so: 'Nothing was changed.',
    next: [typed('dead', 'causes')],
    exitCode: EXIT_CODES.notFound,
  })
}

export const DEAD: readonly Command[] = [causesCommand, listCommand, showCommand]
