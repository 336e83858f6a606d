/** What can be watched: the series, and the events of the stream. */
import { REPLAY_STATUSES } from '@secondwind/client'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Type, type TSchema } from 'typebox'
import type { TaskChange } from '../../task/task-change.ts'
import { TASK_STATUSES } from '../../task/task.ts'
import type { Counters } from '../../telemetry/sampling.ts'
import { RESOLUTIONS } from '../../telemetry/series/series.ts'
import type { SeriesAnswer } from '../../telemetry/series/series-book.ts'
import type { Slot } from '../../telemetry/series/slot.ts'
import type { Gap } from '../../telemetry/stream/stream-event.ts'
import { CONTROL_FIELDS } from './control.ts'
import { BREAKER } from './destination.ts'
import { EXAMPLE_TASK_ID } from './fields.ts'
import { COUNTS, STOPPED } from './replay.ts'
import { wordOf } from './schema.ts'
import { HOLD, OUTCOME } from './task.ts'

const EXAMPLE_SLOT: Slot = {
  first: 120,
  retry: 14,
  succeeded: 118,
  failed: 16,
  held: 0,
  latencyMs: { p50: 35, p99: 410 },
}

const SLOT_FIELDS = {
  first: Type.Integer({ description: 'First attempts that ended.' }),
  retry: Type.Integer({ description: 'All other attempts that ended.' }),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  held: Type.Integer({ description: 'Tasks that waited behind a closed gate: the most that were seen at once.' }),
  latencyMs: Type.Optional(
    Type.Object(
      { p50: Type.Integer(), p99: Type.Integer() },
      { description: 'Within a sixteenth; absent without an attempt.' },
    ),
  ),
}

const EXAMPLE_SERIES: SeriesAnswer = {
  resolution: 'second',
  destination: 'https://api.example',
  slots: [{ at: 1_767_225_600_000, ...EXAMPLE_SLOT }],
}

export const SERIES: TSchema = Type.Object(
  {
    resolution: wordOf(RESOLUTIONS),
    destination: Type.Optional(
      Type.String({ description: 'Absent for all together; `other` for one that has no series of its own.' }),
    ),
    slots: Type.Array(Type.Object({ at: Type.Integer({ description: 'When it began.' }), ...SLOT_FIELDS })),
  },
  { $id: 'Series', examples: [EXAMPLE_SERIES] },
)

const AT = { at: Type.Integer({ description: 'When it happened.' }) }
const EXAMPLE_AT = 1_767_225_600_000

const WHOSE = {
  tenant: Type.Optional(Type.String({ description: 'Whose it is; told to an operator who names no tenant.' })),
}

const EXAMPLE_TASK_EVENT: Omit<TaskChange, 'tenant'> & { readonly at: number } = {
  at: EXAMPLE_AT,
  taskId: EXAMPLE_TASK_ID,
  destination: 'https://api.example',
  status: 'PENDING',
  attemptNumber: 1,
  nextAttemptAt: EXAMPLE_AT + 1_000,
  outcome: 'transient',
  responseStatus: 503,
  errorCode: 'http-503',
}

export const TASK_EVENT: TSchema = Type.Object(
  {
    ...AT,
    ...WHOSE,
    taskId: Type.String(),
    destination: Type.String(),
    status: wordOf(TASK_STATUSES),
    attemptNumber: Type.Integer({ description: 'Attempts made, without one that is under way.' }),
    nextAttemptAt: Type.Optional(Type.Integer({ description: 'Of a `PENDING` task.' })),
    reason: Type.Optional(wordOf(GIVE_UP_REASONS, { description: 'Of an `EXHAUSTED` one.' })),
    outcome: Type.Optional(OUTCOME),
    responseStatus: Type.Optional(Type.Integer()),
    errorCode: Type.Optional(Type.String()),
  },
  { $id: 'TaskEvent', examples: [EXAMPLE_TASK_EVENT] },
)

const EXAMPLE_COUNTERS: Counters = {
  at: EXAMPLE_AT,
  tasks: { PENDING: 12, IN_FLIGHT: 3, SUCCEEDED: 950, EXHAUSTED: 4, CANCELLED: 0 },
  isExact: true,
  lastSecond: EXAMPLE_SLOT,
}

export const COUNTERS_EVENT: TSchema = Type.Object(
  {
    ...AT,
    tasks: Type.Object(Object.fromEntries(TASK_STATUSES.map(status => [status, Type.Integer()]))),
    isExact: Type.Boolean({ description: 'False when there are more destinations than were counted.' }),
    lastSecond: Type.Object(SLOT_FIELDS),
  },
  { $id: 'CountersEvent', examples: [EXAMPLE_COUNTERS] },
)

export const DESTINATION_EVENT: TSchema = Type.Object(
  { ...AT, ...WHOSE, destination: Type.String(), breaker: BREAKER, hold: Type.Optional(HOLD) },
  {
    $id: 'DestinationEvent',
    examples: [
      {
        at: EXAMPLE_AT,
        destination: 'https://api.example',
        breaker: 'open',
        hold: { reason: 'retry-after', until: EXAMPLE_AT + 30_000 },
      },
    ],
  },
)

export const CONTROL_EVENT: TSchema = Type.Object(
  { ...AT, ...WHOSE, ...CONTROL_FIELDS },
  {
    $id: 'ControlEvent',
    examples: [
      {
        at: EXAMPLE_AT,
        controlId: EXAMPLE_TASK_ID,
        level: 'retries-off',
        scope: { kind: 'all' },
        reason: 'INC-2231',
        createdAt: EXAMPLE_AT,
        createdBy: 'local',
        isByOperator: true,
        isInForce: true,
        version: 1,
      },
    ],
  },
)

const EXAMPLE_COUNTS = { moved: 42, waiting: 2, underWay: 1, sent: 39, failed: 1, succeeded: 38, exhausted: 0 }

export const REPLAY_EVENT: TSchema = Type.Object(
  {
    ...AT,
    ...WHOSE,
    replayId: Type.String(),
    status: wordOf(REPLAY_STATUSES),
    statusSince: Type.Integer(),
    ratePerSecond: Type.Number(),
    selected: Type.Integer(),
    counts: COUNTS,
    waitsFor: Type.Optional(Type.String({ description: 'Another replay, which has the destination for itself.' })),
    waitsForRoom: Type.Optional(Type.Literal(true, { description: 'The backlog is full; the rest is dead still.' })),
    stopped: Type.Optional(STOPPED),
    endedFor: Type.Optional(wordOf(['not-run', 'not-resumed'])),
  },
  {
    $id: 'ReplayEvent',
    examples: [
      {
        at: EXAMPLE_AT,
        replayId: EXAMPLE_TASK_ID,
        status: 'RUNNING',
        statusSince: EXAMPLE_AT,
        ratePerSecond: 20,
        selected: 4_120,
        counts: { ...EXAMPLE_COUNTS, cancelled: 0, left: 4_078 },
      },
    ],
  },
)

const GAPS: readonly Gap['because'][] = ['too-old', 'restart', 'too-many']
const EXAMPLE_GAP: Gap = { because: 'too-many', missed: 4_120 }

export const GAP_EVENT: TSchema = Type.Object(
  {
    because: wordOf(GAPS, {
      description: 'The listener was away for too long; another process had begun; more happened than it can be sent.',
    }),
    missed: Type.Optional(Type.Integer({ description: 'Events, at most; absent when nobody knows.' })),
  },
  { $id: 'GapEvent', examples: [EXAMPLE_GAP] },
)
