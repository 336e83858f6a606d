import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { readFlags, readNumbers } from '../requests/query.ts'
import { AUDIT_ENTRY } from '../schemas/access.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { DEFAULT_PAGE, instantField, pageFields, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { pageOf, parameters } from '../schemas/schema.ts'

const wordField = Type.Optional(Type.String({ minLength: 1, maxLength: 8_192 }))

const QUERY = parameters({
  ...pageFields,
  actor: wordField,
  action: wordField,
  subject: wordField,
  since: Type.Optional(instantField('Part of the range.')),
  until: Type.Optional(instantField('No part of it.')),
  all: Type.Optional(
    Type.Boolean({ description: 'Of every tenant and of none, as an operator sees it who names no tenant.' }),
  ),
})

interface AuditQuery extends PageQuery {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly since?: number
  readonly until?: number
  readonly all?: boolean
}

export function addAudit(api: FastifyInstance, context: ApiContext): void {
  const { store } = context
  api.get<{ Querystring: AuditQuery }>(
    '/audit',
    {
      preValidation: [readNumbers(QUERY), readFlags(QUERY)],
      schema: operation({
        operationId: 'listAudit',
        scope: 'operate',
        summary: 'Who did what, when and why, the newest first',
        tags: ['access'],
        querystring: QUERY,
        response: { 200: answer(pageOf(AUDIT_ENTRY), 'A page.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { tenant, isOperator, isForAll } = caller
      const { all = isForAll, limit = DEFAULT_PAGE, cursor, ...filter } = request.query
      if (all && !isOperator) throw new Refusal('scope-missing', { detail: 'Only an operator sees the audit of all.' })
      const asked = { ...filter, ...(!all && { tenant }) }
      const page = await store.audit({ ...asked, limit, ...openCursor(cursor, asked) })
      return reply.send(bindCursor(page, asked))
    },
  )
}
