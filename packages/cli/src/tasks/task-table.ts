import type { RetryTask } from '@secondwind/client'
import { sayCount } from '../output/say-count.ts'
import { sayDistance, whenCell } from '../output/say-time.ts'
import { tenantColumn } from '../remote/whose.ts'
import type { Table } from '../terminal/table.ts'

interface TableOf {
  readonly now: number
  /** Whose they are, where that was named. */
  readonly tenant?: string | undefined
  /** All of them are: their status tells nothing. */
  readonly areDead?: true
}

/** One line for each task: what it is, and what comes next. Where there is little room, where to and how it went: an id alone tells nothing. */
export function taskTable(tasks: readonly RetryTask[], { now, tenant, areDead }: TableOf): Table {
  return {
    columns: [
      { name: 'taskId' },
      { name: 'status', ...(areDead && { isOnlyData: true }) },
      { name: 'destination', isBelow: true },
      { name: 'last', field: 'errorCode', isProse: true, isBelow: true },
      { name: 'attempts', field: 'attemptNumber', align: 'right', dropOrder: 4 },
      { name: 'next', field: 'nextAttemptAt', dropOrder: 5 },
      { name: 'ended', field: 'endedAt', dropOrder: 3 },
      { name: 'call', field: 'targetUrl', dropOrder: 2 },
      { name: 'policy', field: 'policyId', dropOrder: 1 },
      { name: 'method', isOnlyData: true },
      { name: 'reason', isOnlyData: true },
      { name: 'createdAt', isOnlyData: true },
      { name: 'waits', isOnlyData: true },
      { ...tenantColumn(tasks, tenant), isBelow: true },
    ],
    rows: tasks.map(task => [
      task.taskId,
      task.status,
      { value: task.destination, say: task.destination.replace(/^https?:\/\//, '') },
      { value: task.lastAttempt?.errorCode, say: lastOf(task) },
      task.attemptNumber,
      whenCell(task.nextAttemptAt, now),
      whenCell(task.endedAt, now),
      { value: task.targetUrl, say: `${task.method} ${shortened(pathOf(task))}` },
      { value: task.policyId, say: `${task.policyId}@${task.policyVersion}` },
      task.method,
      task.reason ?? '',
      task.createdAt,
      task.waits ?? '',
      task.tenant,
    ]),
  }
}

/** Why it was given up, and how its newest attempt ended, where that tells more. */
function lastOf({ reason, lastAttempt }: Pick<RetryTask, 'reason' | 'lastAttempt'>): string {
  return (
    [reason === 'permanent' ? undefined : reason, lastAttempt?.errorCode].filter(Boolean).join(' ') || (reason ?? '')
  )
}

const LONGEST_CALL = 48

/** What its destination does not say. */
function pathOf({ targetUrl, destination }: RetryTask): string {
  return targetUrl.startsWith(destination) ? targetUrl.slice(destination.length) || '/' : targetUrl
}

/** Of an address the end tells one task from another. */
function shortened(url: string): string {
  return url.length <= LONGEST_CALL ? url : `…${url.slice(1 - LONGEST_CALL)}`
}

/** A task in a line, as somebody says it who watches. */
export function sayTask(task: RetryTask, now: number): string {
  const { status, attemptNumber, nextAttemptAt } = task
  const attempts = sayCount(attemptNumber, 'attempt')
  const parts = [
    status,
    attempts,
    lastOf(task),
    nextAttemptAt === undefined ? '' : `next ${sayDistance(nextAttemptAt, now)}`,
  ]
  return `${task.taskId}  ${parts.filter(part => part !== '').join('  ')}`
}
