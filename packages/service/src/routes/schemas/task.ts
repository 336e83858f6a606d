import type { Explanation, RetryTask } from '@secondwind/client'
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Type, type TProperties, type TSchema } from 'typebox'
import { CONTROL_LEVELS } from '../../task/control.ts'
import { GATE_REASONS, HOLD_REASONS } from '../../task/lane-view.ts'
import type { AttemptOutcome, AttemptRow } from '../../task/task.ts'
import { EXAMPLE_TASK_ID, statusField } from './fields.ts'
import { component, textByName, namesOf, wordOf } from './schema.ts'

const OUTCOMES: { readonly [outcome in AttemptOutcome]: true } = {
  success: true,
  transient: true,
  throttled: true,
  ambiguous: true,
  permanent: true,
  ignored: true,
}

export const OUTCOME: TSchema = wordOf(namesOf(OUTCOMES))

const instant = (description: string): TSchema => Type.Integer({ description })

const EXAMPLE: RetryTask = {
  taskId: EXAMPLE_TASK_ID,
  tenant: 'default',
  status: 'PENDING',
  attemptNumber: 1,
  nextAttemptAt: 1_767_225_601_300,
  waits: 'Attempt 2 is due in 1.3 s, the last one having ended with http-503.',
  lastAttempt: {
    outcome: 'transient',
    responseStatus: 503,
    errorCode: 'http-503',
    errorMessage: '503 from the target',
  },
  targetUrl: 'https://api.example/charge',
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: '[redacted]' },
  bodyBytes: 14,
  destination: 'https://api.example',
  policyId: 'payments',
  policyVersion: 1,
  idempotencyKey: 'order-8812',
  createdAt: 1_767_225_600_000,
  expiresAt: 1_767_229_200_000,
  createdBy: '8f2a41c09d3b7e65',
  generation: 1,
  version: 3,
}

/** How an attempt ended, alone and as part of its row. */
export const END: TProperties = {
  outcome: OUTCOME,
  responseStatus: Type.Optional(Type.Integer()),
  errorCode: Type.Optional(Type.String({ description: 'Stable: `http-503`, `connect-refused`, `attempt-timeout` …' })),
  errorMessage: Type.Optional(Type.String()),
}

export const RETRY_TASK: TSchema = Type.Object(
  {
    taskId: Type.String(),
    tenant: Type.String({ description: 'Whose it is.' }),
    status: statusField,
    attemptNumber: Type.Integer({ description: 'Attempts made in this generation.' }),
    nextAttemptAt: Type.Optional(instant('Of a PENDING task.')),
    waits: Type.Optional(
      Type.String({
        description: 'Why it waits, and until when, in a sentence. Not in the answer to the one that handed it over.',
      }),
    ),
    reason: Type.Optional(wordOf(GIVE_UP_REASONS, { description: 'Why an EXHAUSTED task was given up.' })),
    heldBy: Type.Optional(wordOf(GATE_REASONS, { description: 'The gate that held it until its deadline.' })),
    heldSince: Type.Optional(instant('Since when that gate held it: since it was due.')),
    endedAt: Type.Optional(instant('Of a task that has ended.')),
    cancelRequested: Type.Optional(Type.Boolean({ description: 'The attempt that is under way is the last.' })),
    lastAttempt: Type.Optional(Type.Object(END)),
    targetUrl: Type.String(),
    method: Type.String(),
    headers: textByName({ description: 'What is secret is shown as [redacted].' }),
    bodyBytes: Type.Optional(
      Type.Integer({
        description: 'Bodies are kept and sent, not shown. Absent in lists, except of a body that is kept apart.',
      }),
    ),
    bodyRef: Type.Optional(Type.String({ description: 'Of a body that is kept apart: `GET /bodies/{bodyRef}`.' })),
    destination: Type.String({ description: 'The origin of `targetUrl`, without a dot at the end of its host.' }),
    policyId: Type.String({ description: '`inline` for a task that came with a policy of its own.' }),
    policyVersion: Type.Integer(),
    policy: Type.Optional(component('RetryPolicyInput')),
    idempotencyKey: Type.String({ description: 'The `taskId` where none was given.' }),
    createdAt: instant('When it was accepted.'),
    expiresAt: instant('The deadline: no attempt begins later.'),
    deadlineAt: Type.Optional(instant('The deadline that the caller gave.')),
    generation: Type.Integer({ description: '1, and one more with every replay.' }),
    metadata: Type.Optional(textByName({ description: 'As given.' })),
    callbackUrl: Type.Optional(Type.String({ description: 'Told of its end.' })),
    createdBy: Type.Optional(
      Type.String({
        description:
          'The id of the key that brought it; `admin`, `local` or `system` where it was none that was made here.',
      }),
    ),
    version: Type.Integer({ description: 'Grows with every change; also the ETag.' }),
    note: Type.Optional(Type.String({ description: 'What whoever created it should know.' })),
  },
  { $id: 'RetryTask', examples: [EXAMPLE] },
)

const EXAMPLE_ATTEMPT: AttemptRow = {
  taskId: EXAMPLE_TASK_ID,
  generation: 1,
  attemptNumber: 1,
  startedAt: 1_767_225_600_004,
  durationMs: 87,
  outcome: 'transient',
  responseStatus: 503,
  errorCode: 'http-503',
  errorMessage: '503 from the target',
  response: { headers: { 'retry-after': '1' }, body: 'try later', bodyEncoding: 'utf8', truncated: false },
}

export const ATTEMPT: TSchema = Type.Object(
  {
    taskId: Type.String(),
    generation: Type.Integer(),
    attemptNumber: Type.Integer({ description: 'The first is 1.' }),
    startedAt: Type.Integer(),
    durationMs: Type.Number(),
    ...END,
    response: Type.Optional(
      Type.Object(
        {
          headers: textByName({ description: 'What is secret is shown as [redacted].' }),
          body: Type.String({ description: 'The beginning of it.' }),
          bodyEncoding: wordOf(['utf8', 'base64']),
          truncated: Type.Boolean(),
        },
        { description: 'Left out where there was none, and where the disk was nearly full.' },
      ),
    ),
  },
  { $id: 'Attempt', examples: [EXAMPLE_ATTEMPT] },
)

const GATE = {
  reason: wordOf(HOLD_REASONS),
  until: Type.Optional(
    instant('When it opens, as far as the service knows; behind breaker-open and credit the next probe is sent then.'),
  ),
  since: Type.Optional(instant('Of breaker-open: since when nothing but failures has come back from the destination.')),
  everyMs: Type.Optional(
    Type.Integer({ description: 'Of breaker-open and credit: how far apart probes are sent now, in ms.' }),
  ),
  level: Type.Optional(wordOf(CONTROL_LEVELS, { description: 'Of the kill switch.' })),
  controlId: Type.Optional(Type.String({ description: 'Of the kill switch: which one it is.' })),
  because: Type.Optional(Type.String({ description: 'The reason that was given when it was shut.' })),
  isByOperator: Type.Optional(
    Type.Literal(true, { description: 'An operator has shut it, and only an operator can open it.' }),
  ),
  isByRule: Type.Optional(Type.Literal(true, { description: 'A stop rule has shut it again, no operator by hand.' })),
}

/** The gate that lasts longest. */
export const HOLD: TSchema = Type.Object({
  ...GATE,
  others: Type.Optional(Type.Array(Type.Object(GATE), { description: 'What else is shut now, and opens no later.' })),
})

export const EXPLANATION: TSchema = Type.Object(
  {
    taskId: Type.String(),
    status: statusField,
    explanation: Type.String(),
    nextAttemptAt: Type.Optional(Type.Integer()),
    hold: Type.Optional(HOLD),
  },
  {
    $id: 'Explanation',
    examples: [
      {
        taskId: EXAMPLE_TASK_ID,
        status: 'PENDING',
        explanation:
          'Attempt 2 has been due for 5 s: nothing but failures has come back from https://api.example for 3 min; one request every 9 s finds out, the next at 00:00:10 UTC.',
        nextAttemptAt: 1_767_225_601_300,
        hold: { reason: 'breaker-open', until: 1_767_225_610_000, since: 1_767_225_430_000, everyMs: 9_000 },
      } satisfies Explanation,
    ],
  },
)
