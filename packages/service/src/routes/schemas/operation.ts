import type { FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import type { ResponseSchema } from './answers.ts'

export type Tag = (typeof TAGS)[number]

export const TAGS = ['tasks', 'policies', 'dead letters', 'replays', 'destinations', 'watching', 'service'] as const

/** What an operation takes and answers, and what it is called: nothing is served that is not described. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly [Tag]
  readonly params?: TSchema
  readonly querystring: TSchema
  readonly headers?: TSchema
  readonly body?: TSchema | { readonly content: { readonly [type: string]: { readonly schema: TSchema } } }
  readonly response: ResponseSchema
}

export function operation(described: Operation): FastifySchema {
  return described
}
