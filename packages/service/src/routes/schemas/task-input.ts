import type { Method, RetryTaskInput } from '@secondwind/client'
import { Type, type TString } from 'typebox'
import { bodyRefField } from './body.ts'
import { durationField, instantField, policyIdField } from './fields.ts'
import { component, schemaOf, textByName, type Schema, wordOf } from './schema.ts'

/** What a caller asks for, before its policy is looked at. */
export interface TaskInput extends Omit<RetryTaskInput, 'policy'> {
  readonly policy?: unknown
}

const METHODS: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** It goes out as a header: visible characters, and spaces between them. */
export const IDEMPOTENCY_KEY = '^[\\x21-\\x7e](?:[\\x20-\\x7e]{0,253}[\\x21-\\x7e])?$'

export function idempotencyKeyField(description: string): TString {
  return Type.String({
    pattern: IDEMPOTENCY_KEY,
    'x-takes': 'a key of 1 to 255 visible ASCII characters, perhaps with spaces between them',
    description,
  })
}

const EXAMPLE: TaskInput = {
  targetUrl: 'https://api.example/charge',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"amount":100}',
  policyId: 'payments',
  idempotencyKey: 'order-8812',
}

export const RETRY_TASK_INPUT: Schema<TaskInput> = schemaOf(
  Type.Object(
    {
      targetUrl: Type.String({
        minLength: 1,
        maxLength: 8_192,
        description: 'Where to send it: http or https, without credentials and fragment.',
      }),
      method: Type.Optional(wordOf(METHODS, { default: 'POST' })),
      headers: Type.Optional(
        textByName({
          description: 'Sent with every attempt; together at most 16 KiB.',
          mostEntries: 64,
          longestText: 16_384,
        }),
      ),
      body: Type.Optional(Type.String({ description: 'Sent in UTF-8, character by character.' })),
      bodyBase64: Type.Optional(
        Type.String({ contentEncoding: 'base64', description: 'Bytes that are no text, instead of `body`.' }),
      ),
      bodyRef: Type.Optional(bodyRefField),
      policyId: Type.Optional(policyIdField),
      policy: Type.Optional(component('RetryPolicyInput')),
      idempotencyKey: Type.Optional(
        idempotencyKeyField(
          'The same key and the same request: the same task. Sent as `Idempotency-Key` with every attempt.',
        ),
      ),
      delayMs: Type.Optional(durationField('How long to wait before the first attempt.')),
      notBefore: Type.Optional(instantField('No attempt before this instant; instead of `delayMs`.')),
      deadlineAt: Type.Optional(instantField('No attempt after this instant, whatever the policy allows.')),
      attemptsMade: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          description: 'Of a hand-over: attempts that were made in process.',
        }),
      ),
      elapsedMs: Type.Optional(durationField('Of a hand-over: time that was spent in process.')),
      metadata: Type.Optional(
        textByName({ description: 'Kept and shown, never sent.', mostEntries: 20, longestName: 100, longestText: 500 }),
      ),
      callbackUrl: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 8_192,
          description: 'Told of the end, by one POST that is a task of its own.',
        }),
      ),
    },
    { $id: 'RetryTaskInput', additionalProperties: false, examples: [EXAMPLE] },
  ),
)

/** Words that other services use. */
export const OTHER_WORDS: { readonly [word: string]: string } = {
  url: 'targetUrl',
  target: 'targetUrl',
  destination: 'targetUrl',
  payload: 'body',
  data: 'body',
  json: 'body, which takes a text',
  contentType: 'headers: { "content-type": … }',
  key: 'idempotencyKey',
  delay: 'delayMs',
  scheduledAt: 'notBefore',
  runAt: 'notBefore',
  expiresAt: 'deadlineAt',
  ttl: 'deadlineAt',
  retries: 'policy: { "maxAttempts": … }, which counts all calls (retries + 1)',
  maxRetries: 'policy: { "maxAttempts": … }, which counts all calls (maxRetries + 1)',
  maxAttempts: 'policy: { "maxAttempts": … }',
  timeout: 'policy: { "attemptTimeoutMs": … }',
  tags: 'metadata',
  webhook: 'callbackUrl',
  callback: 'callbackUrl',
  onComplete: 'callbackUrl',
}
