/** What is said of destinations, and what can be set for them. */
import type { Destination } from '@secondwind/client'
import { Type, type TProperties, type TSchema } from 'typebox'
import type { DestinationLimits } from '../../task/destination-settings.ts'
import type { LaneView } from '../../task/lane-view.ts'
import { COMING_BACK, SHOWN_COMING_BACK, SHOWN_STOP_RULE, STOP_RULE } from './coming-back.ts'
import { durationField, instantField, reasonField } from './fields.ts'
import { namesOf, schemaOf, wordOf, type Schema } from './schema.ts'
import { END, HOLD } from './task.ts'

const BREAKER_STATES: { readonly [state in LaneView['breaker']]: true } = {
  closed: true,
  open: true,
  'half-open': true,
  'forced-open': true,
  'forced-closed': true,
}

export const BREAKER: TSchema = wordOf(namesOf(BREAKER_STATES))

/** Never with a colon: an origin always has one. */
const DESTINATION_NAME = '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$'

const nameField = Type.String({
  pattern: DESTINATION_NAME,
  'x-takes': 'a name of 1 to 100 letters, digits, dots, dashes and underscores',
  examples: ['payments-api'],
})

const SET_BY = {
  since: Type.Integer(),
  by: Type.String({ description: 'The id of a key, local, or system: the service itself.' }),
  isByOperator: Type.Optional(
    Type.Literal(true, { description: 'An operator has set it, and only an operator can take it back.' }),
  ),
  reason: Type.Optional(Type.String()),
}

/** Their fields are those of the library's policies, which knows more of them than a schema could say. */
const PART = Type.Object({}, { additionalProperties: true })

const LIMITS: Schema<DestinationLimits> = schemaOf(
  Type.Object(
    {
      concurrency: Type.Optional(Type.Unknown({ description: 'Requests under way at once.' })),
      rateLimit: Type.Optional(Type.Unknown({ description: 'Attempts a second: { perSecond, burst }.' })),
      credit: Type.Optional(
        Type.Unknown({
          description:
            'Fields of credit that differ: { perAnswer, most, probeShare, probeMinMs, probeMaxMs }; `perAnswer` and `most` have { first, retry, late }.',
        }),
      ),
      breaker: Type.Optional(Type.Unknown({ description: 'Refused: `credit` stands in its place.' })),
      budget: Type.Optional(Type.Unknown({ description: 'A retry budget of kind ratio or rate.' })),
    },
    { additionalProperties: false },
  ),
) as Schema<DestinationLimits>

const SHOWN_LIMITS = Type.Object({
  concurrency: Type.Optional(Type.Integer()),
  rateLimit: Type.Optional(PART),
  credit: Type.Optional(PART),
  budget: Type.Optional(PART),
})

const EXAMPLE_SETTINGS: NonNullable<Destination['settings']> = {
  version: 2,
  limits: { concurrency: 20, rateLimit: { perSecond: 50 } },
  paused: { since: 1_767_225_600_000, by: 'local', reason: 'INC-2231', until: 1_767_227_400_000 },
}

const ORDERS = {
  limits: Type.Optional(SHOWN_LIMITS),
  limitsBy: Type.Optional(Type.Object(SET_BY, { description: 'Who set the limits.' })),
  paused: Type.Optional(
    Type.Object(
      { ...SET_BY, until: Type.Optional(Type.Integer()), ...SHOWN_COMING_BACK },
      { description: 'Nothing is sent. An attempt by hand passes a pause of a tenant.' },
    ),
  ),
  resumed: Type.Optional(
    Type.Object(
      {
        ...SET_BY,
        ...SHOWN_COMING_BACK,
        ...SHOWN_STOP_RULE,
      },
      { description: 'How the last pause was lifted: `limit` grows from one since then.' },
    ),
  ),
  draining: Type.Optional(Type.Object(SET_BY, { description: 'New tasks for it are refused.' })),
  forced: Type.Optional(Type.Object({ ...SET_BY, breaker: wordOf(['open', 'closed', 'auto']) })),
}

const SETTINGS: TSchema = Type.Object({
  version: Type.Integer({ description: 'Grows with every change.' }),
  ...ORDERS,
})

const EXAMPLE_DESTINATION: Destination = {
  destination: 'https://api.example',
  tenant: 'default',
  name: 'payments-api',
  breaker: 'closed',
  hold: { reason: 'paused', until: 1_767_227_400_000, because: 'INC-2231' },
  limit: 1,
  credit: { first: 20, retry: 60, late: 20 },
  inFlight: 3,
  backlog: 12,
  oldestDueAt: 1_767_225_600_000,
  succeeded: 950,
  exhausted: 4,
  cancelled: 0,
  attempts: 1_060,
  retryShare: 0.1,
  amplification: 1.11,
  recent: { windowMs: 60_000, attempts: 40, retryShare: 0.6, amplification: 2.5 },
  settings: EXAMPLE_SETTINGS,
}

const costFields = (of: string): TProperties => ({
  attempts: Type.Integer(),
  retryShare: Type.Number({ description: `${of}, those that were not the first of their task.` }),
  amplification: Type.Optional(Type.Number({ description: 'Attempts for each first attempt.' })),
})

const RECENT: TSchema = Type.Object(
  { windowMs: Type.Integer(), ...costFields('Of the attempts that ended within windowMs') },
  { description: 'What was sent lately, by the instance that is asked; absent when it sent nothing.' },
)

const LAST_FAILURE: TSchema = Type.Object(
  { at: Type.Integer(), taskId: Type.String(), attemptNumber: Type.Integer(), ...END },
  { description: 'The newest attempt that did not succeed, of those that the instance that is asked has made.' },
)

const OF_TENANT = {
  tenant: Type.Optional(
    Type.String({
      description:
        'The tenant that it belongs to; absent where an operator names no tenant and several tenants have it, or none has.',
    }),
  ),
  breaker: Type.Optional(BREAKER),
  hold: Type.Optional(HOLD),
  kindHolds: Type.Optional(
    Type.Object(
      { first: Type.Optional(HOLD), retry: Type.Optional(HOLD), late: Type.Optional(HOLD) },
      {
        description:
          'The gate that holds attempts of one kind: first (the task was never tried), retry (tried one to three times), late (tried more often). A probe passes it at `until`.',
      },
    ),
  ),
  limit: Type.Optional(Type.Number({ description: 'Requests that may be under way at once, now.' })),
  credit: Type.Optional(
    Type.Object(
      { first: Type.Integer(), retry: Type.Integer(), late: Type.Integer() },
      {
        description:
          'Attempts of each kind that may be sent before the destination answers. An attempt takes one, an answer adds some to every kind.',
      },
    ),
  ),
  nextProbeAt: Type.Optional(
    Type.Integer({ description: 'When the next probe is sent: one attempt of a kind whose credit is used up.' }),
  ),
  budgetBalance: Type.Optional(
    Type.Number({ description: 'Retries that its budget lets start now; absent when it has none.' }),
  ),
  inFlight: Type.Integer(),
  backlog: Type.Integer({ description: 'Tasks that wait.' }),
  oldestDueAt: Type.Optional(Type.Integer()),
  succeeded: Type.Integer(),
  exhausted: Type.Integer(),
  cancelled: Type.Integer(),
  ...costFields('Of all attempts that there ever were'),
  recent: Type.Optional(RECENT),
  lastFailure: Type.Optional(LAST_FAILURE),
  tenantSettings: Type.Optional(
    Type.Object(ORDERS, {
      description: 'What its tenant has set for itself, as an operator sees it who names none.',
    }),
  ),
}

export const DESTINATION: TSchema = Type.Object(
  {
    destination: Type.String(),
    name: Type.Optional(nameField),
    ...OF_TENANT,
    settings: Type.Optional(SETTINGS),
    operatorSettings: Type.Optional(
      Type.Object(ORDERS, {
        description: 'The settings that an operator has made for every tenant: they hold beside `settings`.',
      }),
    ),
    tenants: Type.Optional(
      Type.Array(Type.Object(OF_TENANT), {
        description:
          'Where an operator names no tenant and several have it: each by itself, with gates of its own, those with most waiting first and at most a hundred. The numbers beside it are of all together.',
      }),
    ),
  },
  { $id: 'Destination', examples: [EXAMPLE_DESTINATION] },
)

const closed = { additionalProperties: false }
const reason = Type.Optional(reasonField)

export const SETTINGS_INPUT: TSchema = Type.Object(
  {
    name: Type.Optional(nameField),
    limits: Type.Optional(LIMITS),
    version: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Of the settings that were read: refused if they are others now.' }),
    ),
    reason,
  },
  closed,
)

export const PAUSE_INPUT: TSchema = Type.Object(
  {
    reason,
    forMs: Type.Optional(durationField('It ends by itself after so long.')),
    until: Type.Optional(instantField('It ends by itself then.')),
    ...COMING_BACK,
  },
  closed,
)

export const RESUME_INPUT: TSchema = Type.Object(
  {
    ...COMING_BACK,
    ...STOP_RULE,
    reason,
  },
  closed,
)

export const DRAIN_INPUT: TSchema = Type.Object({ reason }, closed)

export const FORCE_INPUT: TSchema = Type.Object(
  {
    breaker: wordOf(['open', 'closed', 'auto'], { description: 'auto: it opens and closes by itself again.' }),
    reason,
  },
  closed,
)
