import type { StoredBody } from '@secondwind/client'
import { Type, type TSchema } from 'typebox'
import { BODY_REF_PATTERN } from '../../task/body-ref.ts'
import type { Schema } from './schema.ts'

const EXAMPLE_BODY: StoredBody = {
  bodyRef: 'sha256-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  sizeBytes: 2_097_152,
  contentType: 'application/json',
  createdAt: 1_767_225_600_000,
}

export const bodyRefField: Schema<string> = Type.Unsafe<string>(
  Type.String({
    pattern: BODY_REF_PATTERN,
    'x-takes': 'the bodyRef of a body: sha256- and 64 digits',
    description: 'A body that was uploaded with `POST /bodies`.',
  }),
)

export const BYTES: TSchema = Type.String({ format: 'binary' })

export const BODY: TSchema = Type.Object(
  {
    bodyRef: Type.String({ description: 'What a task names it by: the SHA-256 of its bytes.' }),
    sizeBytes: Type.Integer(),
    contentType: Type.String({ description: 'Sent along where a task gives none of its own.' }),
    createdAt: Type.Integer({ description: 'When these bytes came first.' }),
  },
  { $id: 'Body', examples: [EXAMPLE_BODY] },
)
