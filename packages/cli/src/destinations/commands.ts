import type { Destination } from '@secondwind/client'
import { sayShare } from '@secondwind/lab'
import type { Answer, Command } from '../command.ts'
import { whenCell } from '../output/say-time.ts'
import { answerList, LIST_OPTIONS } from '../remote/listing.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import { tenantColumn } from '../remote/whose.ts'
import { lastAnswer } from '../tasks/answers.ts'
import type { Table } from '../terminal/table.ts'
import { DESTINATION_ARGUMENT, destinationPage } from './destination-page.ts'
import { isUnknown, unknownDestination } from './never-used.ts'
import { nextSteps, spareIt } from './next-steps.ts'
import { sayGate, sayPerKind } from './say-gates.ts'
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
        tableOf: destinations => destinationTable(destinations, call),
        noun: 'destinations yet',
      },
      destinations => {
        const storm = stormOf(destinations, call.clock.now())
        if (storm === undefined) return {}
        return {
          verdict: storm.say,
          next: [
            call.typed('destinations', 'get', storm.destination),
            ...destinations
              .filter(({ destination }) => destination === storm.destination)
              .flatMap(one => spareIt(one, call.typed)),
          ],
        }
      },
    ),
})

function destinationTable(destinations: readonly Destination[], { clock, tenant }: RemoteCall): Table {
  const now = clock.now()
  // A breaker that is not closed, or that an operator holds, may be the cause of the trouble.
  const areClosed = destinations.every(({ breaker = 'closed' }) => breaker === 'closed')
  return {
    columns: [
      { name: 'destination', isAddress: true },
      { name: 'retries now', field: 'recentRetryShare', align: 'right' },
      { name: 'backlog', align: 'right' },
      { name: 'held by', field: 'hold' },
      { name: 'breaker', ...(areClosed && { dropOrder: 5 }) },
      { name: 'next probe', field: 'nextProbeAt', dropOrder: 6 },
      { name: 'credit', dropOrder: 0 },
      { name: 'in flight', field: 'inFlight', align: 'right', dropOrder: 4 },
      { name: 'first due', field: 'oldestDueAt', dropOrder: 6 },
      { name: 'exhausted', align: 'right', dropOrder: 3 },
      { name: 'attempts', align: 'right', dropOrder: 2 },
      { name: 'succeeded', align: 'right', dropOrder: 1 },
      { name: 'cancelled', isOnlyData: true },
      { name: 'retryShare', isOnlyData: true },
      { name: 'limit', isOnlyData: true },
      { name: 'budgetBalance', isOnlyData: true },
      { ...tenantColumn(destinations, tenant), isBelow: true },
    ],
    rows: destinations.map(one => [
      one.destination,
      one.recent === undefined ? '' : { value: one.recent.retryShare, say: sayShare(one.recent.retryShare) },
      one.backlog,
      sayGate(one),
      one.breaker ?? '',
      whenCell(one.nextProbeAt, now),
      one.credit === undefined ? '' : sayPerKind(one.credit),
      one.inFlight,
      whenCell(one.oldestDueAt, now),
      one.exhausted,
      one.attempts,
      one.succeeded,
      one.cancelled,
      one.retryShare,
      one.limit ?? '',
      one.budgetBalance ?? '',
      one.tenant ?? '',
    ]),
  }
}

const getCommand: Command = remoteCommand({
  path: ['destinations', 'get'],
  summary: 'one destination: its gates, its backlog, what retrying costs it, and its last failure',
  arguments: [DESTINATION_ARGUMENT],
  examples: ['destinations get https://api.pay.example'],
  run: get,
})

async function get(call: RemoteCall): Promise<Answer> {
  const { client, args } = call
  const destination = await client.destinations.get(args[0] as string)
  if (isUnknown(destination)) throw await unknownDestination(destination, args[0] as string, call)
  const storm = stormOf([destination], call.clock.now())
  const { lastFailure } = destination
  const said =
    lastFailure &&
    (await lastAnswer(call, lastFailure.taskId, ({ attemptNumber }) => attemptNumber === lastFailure.attemptNumber))
  return {
    data: { ...destination, ...(said !== undefined && { lastAnswer: said }) },
    show: await destinationPage(destination, call, said),
    ...(storm !== undefined && { verdict: storm.say }),
    next: await nextSteps(destination, call),
  }
}

export const DESTINATIONS: readonly Command[] = [listCommand, getCommand]
