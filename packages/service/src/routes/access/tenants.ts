import type { TenantInput } from '@secondwind/client'
import type { FastifyInstance } from 'fastify'
import { DEFAULT_TENANT } from '../../access/caller.ts'
import { MOST_TENANTS } from '../../access/documents.ts'
import { seedDefaultPolicy } from '../../policies/default-policy.ts'
import { isRoomFor } from '../../stores/record-pages.ts'
import { writtenRecord } from '../../stores/written-record.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { readNumbers } from '../requests/query.ts'
import { NEW_TENANT, TENANT } from '../schemas/access.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { DEFAULT_PAGE, pageFields, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { pageOf, parameters } from '../schemas/schema.ts'

const QUERY = parameters({ ...pageFields })

export function addTenants(api: FastifyInstance, { store, keys }: ApiContext): void {
  api.post<{ Body: TenantInput }>(
    '/tenants',
    {
      schema: operation({
        operationId: 'createTenant',
        scope: 'admin',
        isForOperators: true,
        summary: 'Make room for another tenant: tasks, policies, keys and settings of its own',
        tags: ['access'],
        querystring: parameters({}),
        body: NEW_TENANT,
        response: { 201: answer(TENANT, 'A new tenant.'), ...refusals(408, 409, 413, 415) },
      }),
    },
    async (request, reply) => {
      const { tenant, reason } = request.body
      const caller = callerOf(request)
      const isThere = tenant === DEFAULT_TENANT || (await store.record({ kind: 'tenant', id: tenant })) !== undefined
      if (isThere) throw taken(tenant)
      if (!(await isRoomFor(store, { kind: 'tenant', most: MOST_TENANTS })))
        throw new Refusal('too-many', { detail: `There are ${MOST_TENANTS} tenants already.` })
      // The policy first: a tenant without a policy could hand over nothing.
      await seedDefaultPolicy(store, tenant)
      const document = { createdBy: caller.actor }
      const written = await store.write(
        [{ kind: 'tenant', id: tenant, tenant: EVERY_TENANT, document, ifVersion: 0 }],
        lineBy(caller, { tenant: EVERY_TENANT, action: 'tenant.create', subject: tenant, reason }),
      )
      if (written.kind === 'conflict') throw taken(tenant)
      const made = writtenRecord(written)
      await keys.load()
      return reply.code(201).send({ tenant, createdAt: made.createdAt })
    },
  )

  api.get<{ Querystring: PageQuery }>(
    '/tenants',
    {
      preValidation: readNumbers(QUERY),
      schema: operation({
        operationId: 'listTenants',
        scope: 'admin',
        isForOperators: true,
        summary: 'Every tenant, by name, behind the one that was always there',
        tags: ['access'],
        querystring: QUERY,
        response: { 200: answer(pageOf(TENANT), 'A page.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const asked = { kind: 'tenant' } as const
      const found = await store.records({ ...asked, limit, ...openCursor(cursor, asked) })
      const page = bindCursor(found, asked)
      const items = page.items.map(({ id, createdAt }) => ({ tenant: id, createdAt }))
      return reply.send({ ...page, items: cursor === undefined ? [{ tenant: DEFAULT_TENANT }, ...items] : items })
    },
  )
}

function taken(tenant: string): Refusal {
  return new Refusal('tenant-exists', { detail: `${tenant} is there already.` })
}
