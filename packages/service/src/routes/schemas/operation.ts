import type { FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { Scope } from '../../access/caller.ts'
import type { ResponseSchema } from './answers.ts'

export type Tag = (typeof TAGS)[number]

export const TAGS = [
  'tasks',
  'bodies',
  'policies',
  'dead letters',
  'replays',
  'destinations',
  'controls',
  'watching',
  'access',
  'service',
] as const

/** What an operation takes and answers, and what it is called: nothing is served that is not described. */
export interface Operation extends Access {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly [Tag]
  readonly params?: TSchema
  readonly querystring: TSchema
  readonly headers?: TSchema
  readonly body?: TSchema | { readonly content: { readonly [type: string]: { readonly schema: TSchema } } }
  readonly response: ResponseSchema
}

/** Who may ask for it. */
export interface Access {
  /** What a key must have been given; `none` for what everybody may know. */
  readonly scope: Scope | 'none'
  /** It tells of all tenants, or changes what belongs to none. */
  readonly isForOperators?: true
}

/** The name of the security scheme in the OpenAPI document. */
export const KEY_SCHEME = 'key'

export function operation({ scope, isForOperators, ...described }: Operation): FastifySchema {
  return {
    ...described,
    ...(scope !== 'none' && { security: [{ [KEY_SCHEME]: [] }] }),
    ...({ 'x-scope': scope, ...(isForOperators && { 'x-for-operators': true }) } as FastifySchema),
  }
}

/** Whether it answers with a page of many. */
export function isList(schema: FastifySchema | undefined): boolean {
  const { properties } = (schema?.querystring ?? {}) as { readonly properties?: object }
  return properties !== undefined && 'cursor' in properties
}

/** What was said of a route where it was described; of what is no operation everybody may ask. */
export function accessOf(schema: FastifySchema | undefined): Access {
  const described = schema as { readonly 'x-scope'?: Access['scope']; readonly 'x-for-operators'?: true } | undefined
  return { scope: described?.['x-scope'] ?? 'none', ...(described?.['x-for-operators'] && { isForOperators: true }) }
}
