import type { Replay } from '@secondwind/client'
import { sayMs, sayNumber, sayShare } from '@secondwind/lab'
import { sayInstant, sayWhen, whenCell } from '../output/say-time.ts'
import { labelled, type Page } from '../terminal/page.ts'
import type { Table } from '../terminal/table.ts'

const LABEL_WIDTH = 12

const count = (number: number): string => number.toLocaleString('en')

/** What a plan would do, or what its run has done so far. */
export function showReplay(replay: Replay, now: number, { columns, colors }: Page): string {
  const line = (label: string, words: string): string => labelled(`  ${label}`, words, { columns, width: LABEL_WIDTH })
  return [
    `${colors.bold(replay.replayId)}  ${replay.status}`,
    '',
    line('frozen', `${sayInstant(replay.asOf)}: what died later is no part of it`),
    line('selected', `${count(replay.selected)}${replay.status === 'PLANNING' ? ' so far' : ''}`),
    ...replay.skipped.map(({ because, count: left, sampleTaskIds }) =>
      line('skipped', `${count(left)} ${because}${sampleTaskIds[0] === undefined ? '' : `, as ${sampleTaskIds[0]}`}`),
    ),
    ...replay.destinations.map(destination => line('to', destination)),
    line('rate', sayRate(replay)),
    line('canary', replay.canary === 0 ? 'none' : `${replay.canary} first, and their results are waited for`),
    line('stops', sayStopRule(replay)),
    ...(replay.counts.moved === 0 || COUNTED.includes(replay.status) ? [] : [line('so far', sayCounts(replay))]),
    ...(replay.waitsFor === undefined
      ? []
      : [line('waits', `for ${replay.waitsFor}, which has the destination for itself`)]),
    ...(replay.waitsForRoom ? [line('waits', 'for room: the backlog is full, and the rest has stayed dead')] : []),
    ...(replay.newSince === undefined || replay.newSince.count === 0
      ? []
      : [line('new', `${count(replay.newSince.count)}${replay.newSince.isExact ? '' : ' or more'} have died since`)]),
    line('since', sayWhen(replay.statusSince, now)),
  ].join('\n')
}

/** Of these the sentence below the page has the counts. */
const COUNTED: readonly Replay['status'][] = ['CANARY', 'RUNNING', 'FINISHED']

function sayRate({ ratePerSecond, selected, rateNow, status }: Replay): string {
  if (selected === 0) return `${sayNumber(ratePerSecond)}/s`
  const about = sayMs(Math.max(1_000, (selected / ratePerSecond) * 1_000))
  return status === 'RUNNING'
    ? `${sayNumber(ratePerSecond)}/s, now ${sayNumber(rateNow)}/s`
    : `${sayNumber(ratePerSecond)}/s, about ${about} for all`
}

function sayStopRule({ stopOnFailureRate, overLast }: Replay): string {
  return stopOnFailureRate >= 1
    ? 'never by itself'
    : `if more than ${sayShare(stopOnFailureRate)} of the last ${overLast} sent fail at first`
}

function sayCounts({ counts, selected }: Replay): string {
  const { sent, succeeded, failed, exhausted, left } = counts
  return `${count(sent)} of ${count(selected)} sent, ${count(succeeded)} succeeded, ${count(failed)} failed at first, ${count(exhausted)} dead again, ${count(left)} left`
}

/** It may stop before as many were sent as are judged: no better ones could make up for those that failed. */
function sayTripped({ stopped, stopOnFailureRate }: Replay): string {
  if (stopped === undefined) return ''
  const { failed, of, overLast = of } = stopped
  const most = Math.floor(overLast * stopOnFailureRate + EPSILON)
  return `: ${count(failed)} of the last ${count(of)} had failed at first, and of ${overLast} at most ${most} may`
}

/** Seven hundredths of a hundred are a little more than seven. */
const EPSILON = 1e-9

const stayed = ({ counts: { left } }: Replay): string => `${count(left)} ${left === 1 ? 'has' : 'have'} stayed dead`

/** What became of it, in a sentence. */
export function judgeReplay(replay: Replay): string {
  const { status, endedFor } = replay
  switch (status) {
    case 'PLANNING':
      return 'It is still being counted; nothing is sent.'
    case 'PLANNED':
      return replay.selected === 0 ? 'There is nothing that it would send.' : 'Nothing is sent yet.'
    case 'CANARY':
    case 'RUNNING':
      return `It goes on: ${sayCounts(replay)}.`
    case 'PAUSED':
      return `It is paused; ${stayed(replay)}.`
    case 'STOPPED':
      return `It stopped by its rule${sayTripped(replay)}. ${stayed(replay)}.`
    case 'CANCELLED':
      return `It was cancelled${endedFor === undefined ? '' : ' by the service, because nobody went on with it'}; ${stayed(replay)}.`
    case 'FINISHED':
      return `All are sent: ${sayCounts(replay)}.`
  }
}

export function replayTable(replays: readonly Replay[], now: number): Table {
  return {
    columns: [
      { name: 'replayId' },
      { name: 'status' },
      { name: 'selected', align: 'right' },
      { name: 'sent', align: 'right', dropOrder: 6 },
      { name: 'failed', align: 'right', dropOrder: 5 },
      { name: 'left', align: 'right', dropOrder: 4 },
      { name: 'rate', field: 'ratePerSecond', align: 'right', dropOrder: 3 },
      { name: 'planned', field: 'asOf', dropOrder: 2 },
      { name: 'reason', isProse: true, dropOrder: 1 },
    ],
    rows: replays.map(one => [
      one.replayId,
      one.status,
      one.selected,
      one.counts.sent,
      one.counts.failed,
      one.counts.left,
      { value: one.ratePerSecond, say: `${sayNumber(one.ratePerSecond)}/s` },
      whenCell(one.asOf, now),
      one.reason ?? '',
    ]),
  }
}
