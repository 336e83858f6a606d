import type { Resolution, Series } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'
import type { Answer, Command } from '../command.ts'
import { findUnknown, unknownDestination } from '../destinations/never-used.ts'
import { usageFailure, type Failure } from '../failure.ts'
import { given } from '../input/given.ts'
import { instant } from '../input/read-instant.ts'
import { oneOf, optional, readOptions, text, withDefault } from '../input/read-options.ts'
import { sayCount } from '../output/say-count.ts'
import { remoteCommand, type RemoteCall } from '../remote/remote-command.ts'
import type { Said, Table } from '../terminal/table.ts'
import { showSeries } from './chart.ts'

const RESOLUTIONS: readonly Resolution[] = ['second', 'minute']
const SLOT_MS: { readonly [resolution in Resolution]: number } = { second: 1_000, minute: 60_000 }

export const seriesCommand: Command = remoteCommand({
  path: ['series'],
  summary: 'what was sent, second by second or minute by minute: first attempts and retries, outcomes, latency',
  arguments: [
    { usage: '[destination]', say: 'only to this one, such as https://api.pay.example', isDestination: true },
  ],
  options: [
    { flag: '--destination <origin>', say: 'the same, as other commands take it', isDestination: true },
    {
      flag: '--resolution <slot>',
      say: '15 minutes of seconds, or 24 hours of minutes (second)',
      choices: RESOLUTIONS,
    },
    { flag: '--from <time>', say: 'not older than 5min, or from 2026-11-16T02:00:00Z on' },
    { flag: '--to <time>', say: 'older than that' },
    { flag: '--csv', say: 'the slots as comma-separated values' },
    { flag: '--ndjson', say: 'a JSON document for each slot, one a line' },
  ],
  examples: ['series', 'series https://api.pay.example --resolution minute --from 2h'],
  run: show,
})

async function show(call: RemoteCall): Promise<Answer> {
  const { client, args, options, clock } = call
  const now = clock.now()
  const { resolution, from, to, ...flags } = readOptions(options, {
    destination: optional(text()),
    resolution: withDefault('second', oneOf(...RESOLUTIONS)),
    from: optional(instant(now, 'ago')),
    to: optional(instant(now, 'ago')),
  })
  const argument = args[0] as string | undefined
  if (argument !== undefined && flags.destination !== undefined) throw twice(call, argument)
  const destination = argument ?? flags.destination
  const series = await client.series({ resolution, ...given({ destination, from, to }) })
  if (destination !== undefined && sentIn(series) === 0) {
    const unknown = await findUnknown(destination, call)
    if (unknown !== undefined) throw await unknownDestination(unknown, destination, call)
  }
  return {
    data: series,
    items: series.slots,
    table: slotTable(series),
    show: page => showSeries(series, page),
    verdict: judge(series),
  }
}

function twice({ typed }: RemoteCall, destination: string): Failure {
  return usageFailure({
    code: 'wrong-option',
    what: 'the destination is named twice',
    because: ['A series is of one destination, or of all.'],
    next: [typed('series', destination)],
  })
}

function slotTable({ slots }: Series): Table {
  const latency = (ms: number | undefined): Said => ({ value: ms, say: ms === undefined ? '' : sayMs(ms) })
  return {
    columns: ['at', 'first', 'retry', 'succeeded', 'failed', 'held', 'p50Ms', 'p99Ms'].map(name => ({ name })),
    rows: slots.map(slot => [
      slot.at,
      slot.first,
      slot.retry,
      slot.succeeded,
      slot.failed,
      slot.held,
      latency(slot.latencyMs?.p50),
      latency(slot.latencyMs?.p99),
    ]),
  }
}

function sentIn({ slots }: Pick<Series, 'slots'>): number {
  return slots.reduce((all, { first, retry }) => all + first + retry, 0)
}

/** What it comes to, in a sentence. */
export function judge({ slots, resolution }: Series): string {
  const sum = (of: (slot: Series['slots'][number]) => number): number => slots.reduce((all, slot) => all + of(slot), 0)
  const [attempts, retries, failed] = [sentIn({ slots }), sum(({ retry }) => retry), sum(slot => slot.failed)]
  if (attempts === 0) return 'Nothing was sent.'
  const most = Math.max(...slots.map(({ first, retry }) => first + retry))
  const span = sayMs(slots.length * SLOT_MS[resolution])
  return `${sayCount(attempts, 'attempt')} in ${span}, ${sayShare(retries / attempts)} of them retries; ${sayShare(failed / attempts)} failed; ${most.toLocaleString('en')} in the busiest ${resolution}.`
}
