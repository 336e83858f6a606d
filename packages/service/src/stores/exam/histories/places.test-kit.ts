/** The few things that all random histories are about, and how numbers of steps become asks. */
import { laneKey, partitionOf, type Lane } from '../../../task/lane.ts'
import type { Settlement } from '../../../task/settle.ts'
import type { AttemptEnd, ClaimedTask } from '../../../task/task.ts'
import type { Ask, AuditLine, BodyName, PutBack, QueueHead, RecordKind, TaskFilter } from '../../store.ts'
import { only } from '../exam.test-kit.ts'
import type { AskedVersion, AskStep, EndStep, ListStep } from './steps.test-kit.ts'
import { expireHeld, giveUp, giveUpUnsent, putBack, retryAt, succeed } from '../tasks.test-kit.ts'

/** Two lanes of one partition, for limits and shares, and one elsewhere. */
export const LANES: readonly [Lane, Lane, Lane] = lanesOfTwoPartitions()
export const PARTITIONS: readonly [number, number] = [partitionOf(laneKey(LANES[0])), partitionOf(laneKey(LANES[2]))]

export function partitionAt(at: number): number {
  return only([PARTITIONS[at]])
}

function lanesOfTwoPartitions(): [Lane, Lane, Lane] {
  const first = { tenant: 'acme', destination: 'https://0.example' }
  const partition = partitionOf(laneKey(first))
  const others = Array.from({ length: 5_000 }, (_, n) => ({ tenant: 'other', destination: `https://${n + 1}.example` }))
  const neighbour = others.find(lane => partitionOf(laneKey(lane)) === partition)
  const stranger = others.find(lane => partitionOf(laneKey(lane)) !== partition)
  if (neighbour === undefined || stranger === undefined) throw new Error('5000 lanes are in one partition')
  return [first, neighbour, stranger]
}

export const CALLBACK_URLS = ['https://told.example/ends', 'https://also-told.example/ends'] as const

/** Those of kind `replay` are named anew when they are removed. */
export const RECORDS: readonly { readonly kind: RecordKind; readonly id: string; readonly tenant: string }[] = [
  { kind: 'control', id: 'a', tenant: 'acme' },
  { kind: 'control', id: 'b', tenant: '*' },
  { kind: 'name', id: 'a', tenant: 'acme' },
  { kind: 'key', id: 'k', tenant: 'other' },
  { kind: 'policy', id: 'acme default', tenant: 'acme' },
  { kind: 'replay', id: 'r0', tenant: 'acme' },
  { kind: 'replay', id: 'r1', tenant: 'other' },
]

export const BODIES: readonly BodyName[] = ['1', '2', '3', '4'].map((bodyRef, at) => ({
  tenant: at < 3 ? 'acme' : 'other',
  bodyRef,
}))

export const LINE: AuditLine = { tenant: 'acme', actor: 'local', action: 'history.step', subject: 'a step' }

/** The newest is 0: whatever a history is cut down to, a number points at something near. */
export function newest<Item>(items: readonly Item[], at: number): Item | undefined {
  return items[items.length - 1 - (at % Math.max(1, items.length))]
}

export function asking(
  version: AskedVersion,
  read: { readonly version: number } | undefined,
): { readonly ifVersion?: number } {
  const present = read?.version ?? 0
  return version === 'any' ? {} : { ifVersion: version === 'read' ? present : present - 1 }
}

export function askFor(heads: readonly QueueHead[], { queue, count, limit, end }: AskStep): Ask {
  const head = heads[queue % Math.max(1, heads.length)]
  const { lane, queue: name } = head ?? { lane: laneKey(LANES[0]), queue: 'normal first none' }
  return { lane, queue: name, count, limit, ...(end === 'back' && { end }) }
}

const ERRORS: readonly AttemptEnd[] = [
  { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'busy' },
  { outcome: 'ambiguous', errorCode: 'lost' },
  { outcome: 'permanent', responseStatus: 410 },
]

const GATES = ['credit', 'paused'] as const

export function endOf(task: ClaimedTask, { result, error, delayMs }: EndStep, now: number): Settlement | PutBack {
  switch (result) {
    case 'success':
      return succeed(task)
    case 'retry':
      return retryAt(task, now + delayMs, ERRORS[error])
    case 'dead':
      return giveUp(task, error === 2 ? 'permanent' : 'attempts', ERRORS[error])
    case 'unsent': {
      const by = GATES[error - 1]
      return by === undefined ? giveUpUnsent(task) : expireHeld(task, { by, since: task.dueAt })
    }
    case 'put-back':
      return putBack(task)
  }
}

interface Known {
  readonly now: number
  readonly taskIds: readonly string[]
  readonly causeIds: readonly string[]
}

/** A filter that every store has an index for, and whose order makes sense with it. */
export function filterOf(step: ListStep, { now, taskIds, causeIds }: Known): TaskFilter {
  const { order, tenant, lane, policyId, key, attemptFrom, errorCode, createdFromMs, createdToMs, reason } = step
  const status = { 'newest-first': step.status, 'oldest-death-first': 'EXHAUSTED', 'due-first': 'PENDING' } as const
  const isOfDead = status[order] === 'EXHAUSTED'
  const since = (agoMs: number | undefined): number | undefined => (agoMs === undefined ? undefined : now - agoMs)
  const fields = {
    tenant,
    status: status[order],
    destination: lane === undefined ? undefined : LANES[lane]?.destination,
    policyId,
    idempotencyKey: tenant === undefined || key === undefined ? undefined : (newest(taskIds, key) ?? `key ${key % 4}`),
    attemptFrom,
    errorCode,
    createdFrom: since(createdFromMs),
    createdTo: since(createdToMs),
    ...(isOfDead && {
      reason,
      causeId: step.cause === undefined ? undefined : (newest(causeIds, step.cause) ?? 'unheard-of'),
      endedFrom: since(step.endedFromMs),
      endedTo: since(step.endedToMs),
    }),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
