/** Everything that is answered besides tasks and policies. */
import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Type, type TSchema } from 'typebox'
import type { Cause } from '../../stores/store.ts'
import { GATE_REASONS } from '../../task/lane-view.ts'
import { TASK_STATUSES } from '../../task/task.ts'
import { PROBLEM_JSON, REFUSALS, type ProblemDetails } from '../answers/refusal.ts'
import { EXAMPLE_TASK_ID } from './fields.ts'
import { component, namesOf, wordOf } from './schema.ts'

const EXAMPLE_PROBLEM: ProblemDetails = {
  type: '/errors#invalid-request',
  title: REFUSALS['invalid-request'].title,
  status: 400,
  detail: 'The body has 1 problem.',
  code: 'invalid-request',
  problems: [{ at: 'metod', is: 'POST', say: 'is an unknown field; did you mean method?' }],
  requestId: '5f0c7a1b9d3e2468',
}

/** RFC 9457. */
export const PROBLEM: TSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer({ description: 'Of the answer.' }),
    detail: Type.String({ description: 'What happened here, and what to do about it.' }),
    code: wordOf(namesOf(REFUSALS)),
    problems: Type.Optional(
      Type.Array(
        Type.Object({
          at: Type.String({ description: 'Where: a path such as `policy.maxAttempts`; empty for the whole.' }),
          is: Type.Optional(Type.Unknown({ description: 'What stands there.' })),
          say: Type.String({ description: 'What would be right.' }),
        }),
      ),
    ),
    taskId: Type.Optional(Type.String({ description: 'The task that stands in the way.' })),
    taskStatus: Type.Optional(wordOf(TASK_STATUSES, { description: 'What it is now.' })),
    requestId: Type.String(),
  },
  { $id: 'Problem', examples: [EXAMPLE_PROBLEM] },
)

export type ResponseSchema = { readonly [status: string]: object }

/** Headers of an answer, and what they say. */
export type HeaderNotes = { readonly [name: string]: string }

export function answer(schema: TSchema, description: string, headers: HeaderNotes = {}): object {
  const noted = Object.entries(headers).map(([name, note]) => [name, { type: 'string', description: note }])
  return { ...schema, description, headers: Object.fromEntries(noted) }
}

/** The ways in which an operation can say no, besides those that every operation has. */
export function refusals(...statuses: readonly number[]): ResponseSchema {
  return Object.fromEntries([...EVERYWHERE, ...statuses].map(status => [status, refusal(status)]))
}

const EVERYWHERE = [400, 401, 403, 406, 414, 429, 500, 503]

function refusal(status: number): object {
  const codes = Object.entries(REFUSALS).flatMap(([code, known]) => (known.status === status ? code : []))
  // A task that names a policy or a body which does not exist is well-formed, and cannot be worked on.
  const named = status === 422 ? [...codes, 'policy-not-found', 'body-not-found'] : codes
  return { description: named.join(', '), content: { [PROBLEM_JSON]: { schema: component('Problem') } } }
}

export const BATCH_RESULT: TSchema = Type.Object(
  {
    created: Type.Integer(),
    existing: Type.Integer({ description: 'The same request with the same key had come before.' }),
    refused: Type.Integer(),
    items: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'The first is 0.' }),
        result: wordOf(['created', 'existing', 'refused']),
        taskId: Type.Optional(Type.String()),
        problem: Type.Optional(component('Problem')),
      }),
      { description: 'In the order in which they came.' },
    ),
  },
  {
    $id: 'BatchResult',
    examples: [
      { created: 1, existing: 0, refused: 0, items: [{ index: 0, result: 'created', taskId: EXAMPLE_TASK_ID }] },
    ],
  },
)

const EXAMPLE_CAUSE: Cause = {
  causeId: '0fb94dcade44166d',
  tenant: 'default',
  destination: 'https://api.example',
  reason: 'attempts',
  responseStatus: 503,
  errorCode: 'http-503',
  errorMessage: '503 from the target',
  count: 1_204,
  firstAt: 1_767_225_600_000,
  lastAt: 1_767_229_200_000,
  sampleTaskIds: [EXAMPLE_TASK_ID],
}

export const CAUSE: TSchema = Type.Object(
  {
    causeId: Type.String(),
    tenant: Type.String({ description: 'Whose tasks they are.' }),
    destination: Type.String(),
    reason: wordOf(GIVE_UP_REASONS),
    heldBy: Type.Optional(wordOf(GATE_REASONS, { description: 'The gate that held them until their deadline.' })),
    responseStatus: Type.Optional(Type.Integer()),
    errorCode: Type.Optional(Type.String()),
    errorMessage: Type.Optional(Type.String({ description: 'Of one of them.' })),
    count: Type.Integer(),
    firstAt: Type.Integer(),
    lastAt: Type.Integer(),
    sampleTaskIds: Type.Array(Type.String(), { description: 'Some of them.' }),
  },
  { $id: 'Cause', examples: [EXAMPLE_CAUSE] },
)
