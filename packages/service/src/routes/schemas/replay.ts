import { REPLAY_STATUSES, type Replay, type ReplayInput } from '@secondwind/client'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Type, type TNumber, type TSchema } from 'typebox'
import { MOST_RECENT } from '../../task/replay/counts.ts'
import { INCLUDABLE, PLAN_DEFAULTS, SKIPPED_BECAUSE, type ReplayFilter } from '../../task/replay/replay.ts'
import { destinationField, EXAMPLE_TASK_ID, instantField, policyIdField, reasonField, taskIdField } from './fields.ts'
import { schemaOf, wordOf, type Schema } from './schema.ts'

/** Faster than that a store has better things to do; slower than one in a hundred seconds is a slip of the keyboard. */
export const rateField: TNumber = Type.Number({
  minimum: 0.01,
  maximum: 1_000,
  description: 'Tasks that are sent a second.',
  examples: [20],
})

const shareField = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'Stops when more than this part of the last `overLast` failed at their first attempt; 1: never.',
})

const MOST_TASK_IDS = 200

const REPLAY_FILTER: Schema<ReplayFilter> = schemaOf(
  Type.Object(
    {
      destination: Type.Optional(destinationField),
      causeId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Those of one cause.' })),
      reason: Type.Optional(wordOf(GIVE_UP_REASONS, { description: 'Why they were given up.' })),
      policyId: Type.Optional(policyIdField),
      errorCode: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Of the newest attempt.' })),
      createdFrom: Type.Optional(instantField('Accepted at this instant or later.')),
      createdTo: Type.Optional(instantField('Accepted before this instant.')),
      endedFrom: Type.Optional(instantField('Given up at this instant or later.')),
      endedTo: Type.Optional(instantField('Given up before this instant.')),
      taskIds: Type.Optional(
        Type.Array(taskIdField, {
          minItems: 1,
          maxItems: MOST_TASK_IDS,
          description: 'These and no others; with no other field of the filter.',
        }),
      ),
    },
    {
      additionalProperties: false,
      description: 'Which dead letters. All that is given must hold, and something must be.',
    },
  ),
)

const EXAMPLE_INPUT: ReplayInput = {
  filter: { destination: 'https://api.example', endedFrom: 1_767_225_600_000 },
  ratePerSecond: 20,
  reason: 'INC-2231',
}

export const REPLAY_INPUT: Schema<ReplayInput> = schemaOf(
  Type.Object(
    {
      filter: REPLAY_FILTER,
      ratePerSecond: rateField,
      canary: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 100,
          default: PLAN_DEFAULTS.canary,
          description: 'So many are sent first, and their results waited for; 0: none.',
        }),
      ),
      stopOnFailureRate: Type.Optional(shareField),
      overLast: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_RECENT, default: PLAN_DEFAULTS.overLast })),
      include: Type.Optional(
        Type.Array(wordOf(INCLUDABLE), {
          maxItems: INCLUDABLE.length,
          description: 'Endings that are left alone otherwise: they would most likely be repeated.',
        }),
      ),
      reason: Type.Optional(reasonField),
    },
    { $id: 'ReplayInput', additionalProperties: false, examples: [EXAMPLE_INPUT] },
  ),
)

const EXAMPLE: Replay = {
  replayId: EXAMPLE_TASK_ID,
  status: 'RUNNING',
  statusSince: 1_767_229_230_000,
  filter: { destination: 'https://api.example' },
  ...PLAN_DEFAULTS,
  ratePerSecond: 20,
  reason: 'INC-2231',
  createdBy: 'local',
  asOf: 1_767_229_200_000,
  selected: 8_377,
  skipped: [{ because: 'permanent', count: 35, sampleTaskIds: [EXAMPLE_TASK_ID] }],
  destinations: ['https://api.example'],
  hasMoreDestinations: false,
  counts: {
    moved: 4_230,
    waiting: 18,
    underWay: 2,
    sent: 4_210,
    failed: 23,
    succeeded: 4_187,
    exhausted: 0,
    cancelled: 0,
    left: 4_147,
  },
  rateNow: 20,
  version: 215,
  newSince: { count: 2, isExact: true },
}

const count = (description: string): TSchema => Type.Integer({ description })

export const COUNTS: TSchema = Type.Object({
  moved: count('Began their next generation.'),
  waiting: count('Of these, those whose first attempt has not begun.'),
  underWay: count('First attempts that have begun.'),
  sent: count('First attempts that have ended.'),
  failed: count('First attempts that failed; most of them are retried.'),
  succeeded: count('Ended well.'),
  exhausted: count('Were given up again.'),
  cancelled: count('Were cancelled.'),
  left: count('Selected, and still dead.'),
})

export const STOPPED: TSchema = Type.Object(
  {
    failed: Type.Integer({ description: 'So many failed at first.' }),
    of: Type.Integer({ description: 'Of so many whose end was known.' }),
    overLast: Type.Optional(Type.Integer({ description: 'Of so many that its rule judges.' })),
  },
  { description: 'What tripped its stop rule.' },
)

export const REPLAY: TSchema = Type.Object(
  {
    replayId: Type.String(),
    status: wordOf(REPLAY_STATUSES),
    statusSince: Type.Integer(),
    filter: REPLAY_FILTER,
    include: Type.Array(wordOf(INCLUDABLE)),
    ratePerSecond: Type.Number(),
    canary: Type.Integer(),
    stopOnFailureRate: Type.Number(),
    overLast: Type.Integer(),
    reason: Type.Optional(Type.String()),
    createdBy: Type.String({ description: 'The id of a key, or `local`.' }),
    asOf: Type.Integer({ description: 'What was given up before this instant is selected, and nothing else.' }),
    selected: Type.Integer({ description: 'Grows while the status is `PLANNING`.' }),
    skipped: Type.Array(
      Type.Object({
        because: wordOf(SKIPPED_BECAUSE),
        count: Type.Integer(),
        sampleTaskIds: Type.Array(Type.String(), { description: 'Some of them.' }),
      }),
      { description: 'What fits the filter and is left alone.' },
    ),
    destinations: Type.Array(Type.String(), { description: 'Of what was selected.' }),
    hasMoreDestinations: Type.Boolean(),
    counts: COUNTS,
    rateNow: Type.Number({ description: 'Sent a second, over the last seconds.' }),
    waitsFor: Type.Optional(Type.String({ description: 'Another replay, which has the destination for itself.' })),
    waitsForRoom: Type.Optional(Type.Literal(true, { description: 'The backlog is full; the rest is dead still.' })),
    stopped: Type.Optional(STOPPED),
    endedFor: Type.Optional(wordOf(['not-run', 'not-resumed'], { description: 'Why the service cancelled it.' })),
    version: Type.Integer({
      description: 'Grows with every change, several times a second while it is under way; the same as the ETag.',
    }),
    newSince: Type.Optional(
      Type.Object(
        { count: Type.Integer(), isExact: Type.Boolean() },
        { description: 'Dead letters that fit the filter and came later: they are no part of it.' },
      ),
    ),
  },
  { $id: 'Replay', examples: [EXAMPLE] },
)
