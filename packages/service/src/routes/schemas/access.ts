/** Tenants, keys, secrets and the audit, as they are asked for and shown. */
import type {
  Key,
  KeyInput,
  RotationInput,
  Secret,
  SecretInput,
  ShownKey,
  ShownSecret,
  TenantInput,
} from '@secondwind/client'
import { Type, type TSchema, type TString } from 'typebox'
import { SCOPES, TENANT_NAME } from '../../access/caller.ts'
import { instantField, lineField, reasonField } from './fields.ts'
import { schemaOf, wordOf, type Schema } from './schema.ts'

const tenantField: TString = Type.String({
  pattern: TENANT_NAME,
  'x-takes': 'a name of 1 to 63 small letters, digits and dashes',
  examples: ['acme'],
})

const versionField = Type.Integer({ description: 'Grows with every change.' })
const nameField = lineField(100, { description: 'For people.', example: 'checkout' })

/** A month: who has not changed over by then will not. */
const LONGEST_OVERLAP_MS = 30 * 86_400_000
/** A day: one roll-out. */
export const USUAL_OVERLAP_MS = 86_400_000

export const NEW_TENANT: Schema<TenantInput> = schemaOf(
  Type.Object({ tenant: tenantField, reason: Type.Optional(reasonField) }, { additionalProperties: false }),
)

export const TENANT: TSchema = Type.Object({
  tenant: tenantField,
  createdAt: Type.Optional(instantField('Absent for the one that was always there.')),
})

export const NEW_KEY: Schema<KeyInput> = Type.Unsafe<KeyInput>(
  Type.Object(
    {
      name: Type.Optional(nameField),
      scopes: Type.Array(wordOf(SCOPES), {
        minItems: 1,
        uniqueItems: true,
        description: 'What it may do; `admin` includes all others.',
      }),
      isOperator: Type.Optional(
        Type.Boolean({ default: false, description: 'It acts for every tenant; only an operator can give this.' }),
      ),
      expiresAt: Type.Optional(instantField('It is refused from then on.')),
      reason: Type.Optional(reasonField),
    },
    { additionalProperties: false },
  ),
)

export const KEY: Schema<Key | ShownKey> = Type.Unsafe<Key | ShownKey>(
  Type.Object({
    keyId: Type.String(),
    name: Type.Optional(Type.String()),
    tenant: Type.Optional(Type.String({ description: 'Absent for a key of an operator.' })),
    isOperator: Type.Boolean(),
    scopes: Type.Array(wordOf(SCOPES)),
    createdAt: instantField('When.'),
    createdBy: Type.String({ description: 'The id of the key that made it.' }),
    expiresAt: Type.Optional(instantField('It is refused from then on.')),
    overlapsUntil: Type.Optional(instantField('Until then the text of before the rotation is taken, too.')),
    version: versionField,
    revokedAt: Type.Optional(instantField('It is refused since then: in the answer that revokes it.')),
    key: Type.Optional(Type.String({ description: 'The key itself. It is shown this once, and kept by nobody.' })),
  }),
)

export const ROTATION: Schema<RotationInput> = schemaOf(
  Type.Object(
    {
      overlapMs: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: LONGEST_OVERLAP_MS,
          default: USUAL_OVERLAP_MS,
          description: 'How long the one of before is good for, too.',
        }),
      ),
      reason: Type.Optional(reasonField),
    },
    { additionalProperties: false },
  ),
)

export const NEW_SECRET: Schema<SecretInput> = schemaOf(
  Type.Object(
    {
      destination: Type.Optional(
        Type.String({ minLength: 1, maxLength: 8_192, description: 'Left out: all that have none of their own.' }),
      ),
      reason: Type.Optional(reasonField),
    },
    { additionalProperties: false },
  ),
)

export const SECRET: Schema<Secret | ShownSecret> = Type.Unsafe<Secret | ShownSecret>(
  Type.Object({
    secretId: Type.String(),
    destination: Type.Optional(Type.String()),
    createdAt: instantField('When.'),
    createdBy: Type.String(),
    overlapsUntil: Type.Optional(instantField('Until then deliveries are signed with the one of before, too.')),
    version: versionField,
    secret: Type.Optional(Type.String({ description: 'The secret itself. It is shown this once.' })),
  }),
)

export const AUDIT_ENTRY: TSchema = Type.Object({
  auditId: Type.String(),
  at: instantField('When.'),
  tenant: Type.String(),
  actor: Type.String({ description: 'The id of a key; `local` without keys; `system` for the service itself.' }),
  action: Type.String({ examples: ['task.cancel'] }),
  subject: Type.String(),
  reason: Type.Optional(Type.String()),
  details: Type.Optional(Type.Object({}, { additionalProperties: true })),
})
