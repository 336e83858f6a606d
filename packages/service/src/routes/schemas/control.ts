import type { Control } from '@secondwind/client'
import { Type, type TSchema } from 'typebox'
import { CONTROL_LEVELS, SCOPE_KINDS, type ControlLevel, type ControlScope } from '../../task/control.ts'
import type { ComingBack } from '../../task/destination-settings.ts'
import { COMING_BACK, SHOWN_COMING_BACK } from './coming-back.ts'
import { destinationField, durationField, EXAMPLE_TASK_ID, instantField, policyIdField, reasonField } from './fields.ts'
import { schemaOf, wordOf, type Schema } from './schema.ts'

export interface ControlInput extends ComingBack {
  readonly level: ControlLevel
  readonly scope: {
    readonly kind: ControlScope['kind']
    readonly tenant?: string
    readonly policyId?: string
    readonly destination?: string
  }
  readonly reason: string
  readonly expiresAt?: number
  readonly forMs?: number
  readonly preview?: boolean
}

const levelField = wordOf(CONTROL_LEVELS, {
  description: 'retries-off: first attempts go out. dispatch-off: nothing does. intake-off: no tasks are taken in.',
})

const CONTROL_SCOPE: TSchema = Type.Object(
  {
    kind: wordOf(SCOPE_KINDS),
    tenant: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Of kind tenant.' })),
    policyId: Type.Optional({ ...policyIdField, description: 'Of kind policy.' }),
    destination: Type.Optional({ ...destinationField, description: 'Of kind destination: its origin, or its name.' }),
  },
  { additionalProperties: false },
)

export const CONTROL_INPUT: Schema<ControlInput> = schemaOf(
  Type.Object(
    {
      level: levelField,
      scope: CONTROL_SCOPE,
      reason: reasonField,
      expiresAt: Type.Optional(
        instantField('When it ends by itself; without it, and without forMs, when somebody ends it.'),
      ),
      forMs: Type.Optional(durationField('The same, from now on.')),
      ...COMING_BACK,
      preview: Type.Optional(Type.Boolean({ description: 'Only say what it would hold: nothing is written.' })),
    },
    {
      $id: 'ControlInput',
      additionalProperties: false,
      examples: [{ level: 'retries-off', scope: { kind: 'all' }, reason: 'INC-2231', forMs: 1_800_000 }],
    },
  ),
) as Schema<ControlInput>

const EXAMPLE: Control = {
  controlId: EXAMPLE_TASK_ID,
  level: 'retries-off',
  scope: { kind: 'all' },
  reason: 'INC-2231',
  createdAt: 1_767_225_600_000,
  createdBy: 'local',
  isByOperator: true,
  expiresAt: 1_767_227_400_000,
  isInForce: true,
  version: 1,
  holds: { lanes: 3, waitingTasks: 41_870, isExact: false },
}

const inState = {
  controlId: Type.String(),
  level: levelField,
  scope: CONTROL_SCOPE,
  reason: Type.String(),
  expiresAt: Type.Optional(Type.Integer()),
}

/** As it is told to those who listen, too. */
export const CONTROL_FIELDS: { readonly [field: string]: TSchema } = {
  ...inState,
  createdAt: Type.Integer(),
  createdBy: Type.String({ description: 'The id of a key, or local.' }),
  isByOperator: Type.Boolean({ description: 'Whoever runs the service has thrown it, and alone ends it.' }),
  endedAt: Type.Optional(Type.Integer({ description: 'When somebody ended it.' })),
  endedBy: Type.Optional(Type.String()),
  ...SHOWN_COMING_BACK,
  isInForce: Type.Boolean(),
  version: Type.Integer({ description: 'Grows with every change; the same as the ETag.' }),
}

const tenantField = Type.Optional(
  Type.String({ description: 'Whose policies and destinations are meant; absent: everybody’s.' }),
)

const holdsField = Type.Object(
  {
    lanes: Type.Integer({ description: 'Destinations with tasks that wait.' }),
    waitingTasks: Type.Integer(),
    isExact: Type.Boolean({ description: 'False: some of them are not meant, or not all were counted.' }),
  },
  { description: 'What it keeps, or would keep, now; not in lists.' },
)

export const CONTROL: TSchema = Type.Object(
  { ...CONTROL_FIELDS, tenant: tenantField, holds: Type.Optional(holdsField) },
  { $id: 'Control', examples: [EXAMPLE] },
)

export const CONTROL_PREVIEW: TSchema = Type.Object({
  isPreview: Type.Literal(true, { description: 'Nothing was written, and nothing is in force.' }),
  level: levelField,
  scope: CONTROL_SCOPE,
  reason: Type.String(),
  expiresAt: Type.Optional(Type.Integer()),
  isByOperator: Type.Boolean(),
  ...SHOWN_COMING_BACK,
  tenant: tenantField,
  holds: holdsField,
})

export const CONTROL_STATE: TSchema = Type.Object(
  {
    now: Type.Integer({ description: 'The clock of the service.' }),
    controls: Type.Array(Type.Object(inState)),
  },
  {
    $id: 'ControlState',
    examples: [
      {
        now: 1_767_225_600_000,
        controls: [{ controlId: EXAMPLE_TASK_ID, level: 'retries-off', scope: { kind: 'all' }, reason: 'INC-2231' }],
      },
    ],
  },
)
