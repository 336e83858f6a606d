import type { Destination } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'
import type { Answer, Command } from '../command.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { sayWhen, whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { labelled, type Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'
import { stormOf } from './storm.ts'

const listCommand: Command = remoteCommand({
  path: ['destinations', 'list'],
  summary: 'every destination: what it costs, what waits for it, and which gates are shut',
  options: LIST_OPTIONS,
  examples: ['destinations list'],
  run: call =>
    answerList(
      call,
      {
        listing: call.client.destinations.list(),
        idOf: ({ destination }) => destination,
        tableOf: destinations => destinationTable(destinations, call.clock.now()),
        noun: 'destinations yet',
      },
      destinations => {
        const storm = stormOf(destinations)
        if (storm === undefined) return {}
        return { verdict: storm.say, next: [call.typed('destinations', 'get', storm.destination)] }
      },
    ),
})

function destinationTable(destinations: readonly Destination[], now: number): Table {
  return {
    columns: [
      { name: 'destination' },
      { name: 'retries', field: 'retryShare', align: 'right' },
      { name: 'backlog', align: 'right' },
      { name: 'held by', field: 'hold' },
      { name: 'breaker', dropOrder: 5 },
      { name: 'in flight', field: 'inFlight', align: 'right', dropOrder: 4 },
      { name: 'first due', field: 'oldestDueAt', dropOrder: 6 },
      { name: 'exhausted', align: 'right', dropOrder: 3 },
      { name: 'attempts', align: 'right', dropOrder: 2 },
      { name: 'succeeded', align: 'right', dropOrder: 1 },
      { name: 'cancelled', isOnlyData: true },
      { name: 'limit', isOnlyData: true },
      { name: 'budgetBalance', isOnlyData: true },
    ],
    rows: destinations.map(one => [
      one.destination,
      { value: one.retryShare, say: sayShare(one.retryShare) },
      one.backlog,
      one.hold?.reason ?? (one.retryHold === undefined ? '' : `${one.retryHold.reason} (retries)`),
      one.breaker ?? '',
      one.inFlight,
      whenCell(one.oldestDueAt, now),
      one.exhausted,
      one.attempts,
      one.succeeded,
      one.cancelled,
      one.limit ?? '',
      one.budgetBalance ?? '',
    ]),
  }
}

const getCommand: Command = remoteCommand({
  path: ['destinations', 'get'],
  summary: 'one destination: its gates, its backlog, and what retrying costs it',
  arguments: [{ usage: '<destination>', say: 'its origin, such as https://api.pay.example' }],
  examples: ['destinations get https://api.pay.example'],
  run: get,
})

async function get({ client, args, clock, typed }: RemoteCall): Promise<Answer> {
  const destination = await findDestination(client, args[0] as string, typed)
  const storm = stormOf([destination])
  return {
    data: destination,
    show: page => showDestination(destination, clock.now(), page),
    ...(storm !== undefined && { verdict: storm.say }),
    next: [
      typed('tasks', 'list', '--destination', destination.destination),
      ...(destination.exhausted > 0 ? [typed('dead', 'causes', '--destination', destination.destination)] : []),
    ],
  }
}

async function findDestination(
  client: RemoteCall['client'],
  name: string,
  typed: RemoteCall['typed'],
): Promise<Destination> {
  for await (const one of client.destinations.list()) if (one.destination === name) return one
  throw new Failure({
    code: 'not-found',
    what: `there is no destination ${name}`,
    because: ['A destination is the origin of an address, and known once it has had a task.'],
    so: 'Nothing was changed.',
    next: [typed('destinations', 'list')],
    exitCode: EXIT_CODES.notFound,
  })
}

const LABEL_WIDTH = 17

function showDestination(one: Destination, now: number, { columns, colors }: Page): string {
  const hold = (gate: Destination['hold']): string | undefined =>
    gate && `${gate.reason}${gate.until === undefined ? '' : `, for another ${sayMs(Math.max(0, gate.until - now))}`}`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['held by', hold(one.hold)],
    ['retries held by', hold(one.retryHold)],
    ['breaker', one.breaker],
    ['in flight', `${one.inFlight}${one.limit === undefined ? '' : ` of ${one.limit} at once`}`],
    ['retry budget', one.budgetBalance === undefined ? undefined : `${one.budgetBalance} may start now`],
    ['backlog', String(one.backlog)],
    ['first due', one.oldestDueAt === undefined ? undefined : sayWhen(one.oldestDueAt, now)],
    ['attempts', `${one.attempts}, of which ${sayShare(one.retryShare)} retries`],
    [
      'amplification',
      one.amplification === undefined ? undefined : `${one.amplification} × the load of first attempts`,
    ],
    ['succeeded', String(one.succeeded)],
    ['exhausted', String(one.exhausted)],
    ['cancelled', String(one.cancelled)],
  ]
  return [
    colors.bold(one.destination),
    '',
    ...facts.flatMap(([label, words]) =>
      words === undefined ? [] : [labelled(`  ${label}`, words, { columns, width: LABEL_WIDTH })],
    ),
  ].join('\n')
}

export const DESTINATIONS: readonly Command[] = [listCommand, getCommand]
