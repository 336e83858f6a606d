import type { RotationInput, Secret, SecretInput } from '@secondwind/client'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { MOST_SECRETS, type SecretDocument } from '../../access/documents.ts'
import { overlapped } from '../../access/overlap.ts'
import { isRoomFor } from '../../stores/record-pages.ts'
import { documentOf, type StoredRecord } from '../../stores/store.ts'
import { freeName, takeName } from '../../stores/unique-names.ts'
import { writtenRecord } from '../../stores/written-record.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { pathOf, replaceRecord } from './one-record.ts'
import { lineBy } from '../requests/audit-line.ts'
import { readDestination } from '../destinations/find-destination.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH } from '../requests/if-match.ts'
import { readNumbers } from '../requests/query.ts'
import { invalid } from '../requests/validation.ts'
import { NEW_SECRET, ROTATION, SECRET, USUAL_OVERLAP_MS } from '../schemas/access.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { DEFAULT_PAGE, pageFields, reasonField, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { pageOf, parameters } from '../schemas/schema.ts'

const QUERY = parameters({ ...pageFields })
const SECRET_PATH = pathOf('secret')

const WITH_VERSION = { etag: 'Its version.' }

interface OneSecret {
  readonly Params: { readonly secretId: string }
  readonly Body: RotationInput
  readonly Querystring: { readonly reason?: string }
}

/** Standard Webhooks: between 24 and 64 random bytes. */
const SECRET_BYTES = 32
/** Random, because versions begin at 1 again: the ETag of a secret that is gone must fit no other. */
const SECRET_ID_BYTES = 8

export function addSecrets(api: FastifyInstance, context: ApiContext): void {
  const { store, secrets, orders, clock } = context

  api.post<{ Body: SecretInput }>(
    '/secrets',
    {
      schema: operation({
        operationId: 'createSecret',
        scope: 'admin',
        summary: 'Sign deliveries from now on: to one destination, or to all',
        tags: ['access'],
        querystring: parameters({}),
        body: NEW_SECRET,
        response: {
          201: answer(SECRET, 'The secret, shown this once.', WITH_VERSION),
          ...refusals(408, 409, 413, 415),
        },
      }),
    },
    async (request, reply) => {
      const { destination: named, reason } = request.body
      const caller = callerOf(request)
      const [destination, problems] = readDestination({ at: 'destination', is: named }, caller, orders)
      if (problems.length > 0) throw invalid('body', problems)
      const { tenant } = caller
      if (!(await isRoomFor(store, { kind: 'secret', tenant, most: MOST_SECRETS })))
        throw new Refusal('too-many', { detail: `There are ${MOST_SECRETS} secrets already.` })
      const secret = newSecret()
      const document: SecretDocument = {
        ...(destination !== undefined && { destination }),
        createdBy: caller.actor,
        secrets: [{ secret }],
      }
      const secretId = randomBytes(SECRET_ID_BYTES).toString('hex')
      const record = { kind: 'secret', id: secretId, tenant } as const
      const written = await store.write(
        [{ ...record, document: { ...document }, ifVersion: 0 }, takeName(record, signedName(document))],
        {
          ...lineBy(caller, { tenant, action: 'secret.create', subject: secretId, reason }),
          details: { destination: signedName(document) },
        },
      )
      if (written.kind === 'conflict') throw secretExists(signedName(document))
      const made = writtenRecord(written)
      await secrets.load()
      void reply.code(201).header('etag', etagOf(made.version))
      return reply.send({ ...secretView(made), secret })
    },
  )

  api.get<{ Querystring: PageQuery }>(
    '/secrets',
    {
      preValidation: readNumbers(QUERY),
      schema: operation({
        operationId: 'listSecrets',
        scope: 'admin',
        summary: 'What deliveries are signed with, without the secrets themselves',
        tags: ['access'],
        querystring: QUERY,
        response: { 200: answer(pageOf(SECRET), 'A page, by id.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const { cursor, limit = DEFAULT_PAGE } = request.query
      const caller = callerOf(request)
      const asked = { kind: 'secret', tenant: caller.tenant } as const
      const found = await store.records({ ...asked, limit, ...openCursor(cursor, asked) })
      const page = bindCursor(found, asked)
      return reply.send({ ...page, items: page.items.map(secretView) })
    },
  )

  api.post<OneSecret>(
    '/secrets/:secretId/rotate',
    {
      schema: operation({
        operationId: 'rotateSecret',
        scope: 'admin',
        summary: 'Sign with a new secret; for a while with the old one as well',
        tags: ['access'],
        params: SECRET_PATH,
        querystring: parameters({}),
        headers: IF_MATCH,
        body: ROTATION,
        response: {
          200: answer(SECRET, 'The secret, shown this once.', WITH_VERSION),
          ...refusals(404, 408, 409, 412, 413, 415),
        },
      }),
    },
    async (request, reply) => {
      const { overlapMs = USUAL_OVERLAP_MS, reason } = request.body
      const record = await ownSecret(request, context)
      const document = documentOf<SecretDocument>(record)
      const secret = newSecret()
      const rotated = await replaceRecord(request, {
        what: 'secret',
        record,
        document: { ...document, secrets: overlapped({ secret }, document.secrets, clock.now() + overlapMs) },
        audit: {
          ...lineBy(callerOf(request), {
            tenant: record.tenant,
            action: 'secret.rotate',
            subject: record.id,
            reason,
          }),
          details: { destination: signedName(document), overlapMs },
        },
        write: (writes, audit) => store.write(writes, audit),
      })
      await secrets.load()
      void reply.header('etag', etagOf(rotated.version))
      return reply.send({ ...secretView(rotated), secret })
    },
  )

  api.delete<OneSecret>(
    '/secrets/:secretId',
    {
      schema: operation({
        operationId: 'deleteSecret',
        scope: 'admin',
        summary: 'Sign with it no longer',
        tags: ['access'],
        params: SECRET_PATH,
        querystring: parameters({ reason: Type.Optional(reasonField) }),
        headers: IF_MATCH,
        response: { 200: answer(SECRET, 'It is forgotten.'), ...refusals(404, 409, 412) },
      }),
    },
    async (request, reply) => {
      const record = await ownSecret(request, context)
      const name = signedName(documentOf(record))
      const { id: subject, tenant } = record
      const line = { tenant, action: 'secret.delete', subject, reason: request.query.reason }
      const audit = { ...lineBy(callerOf(request), line), details: { destination: name } }
      await replaceRecord(request, {
        what: 'secret',
        record,
        document: null,
        along: [freeName(record, name)],
        audit,
        write: (writes, line) => store.write(writes, line),
      })
      await secrets.load()
      return reply.send(secretView(record))
    },
  )
}

/** What it signs, in a word: there is one secret for each. */
function signedName({ destination = 'all' }: SecretDocument): string {
  return destination
}

function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

function secretExists(name: string): Refusal {
  return new Refusal('secret-exists', {
    detail: `Deliveries to ${name} have a secret already: rotate it, or delete it first.`,
  })
}

/** The secret of the path. A secret of another tenant is unknown. */
async function ownSecret(request: FastifyRequest<OneSecret>, { store }: ApiContext): Promise<StoredRecord> {
  const { secretId } = request.params
  const { tenant } = callerOf(request)
  const record = await store.record({ kind: 'secret', id: secretId })
  if (record?.tenant !== tenant)
    throw new Refusal('secret-not-found', { detail: `${secretId} is no secret of ${tenant}.` })
  return record
}

function secretView(record: StoredRecord): Secret {
  const { destination, createdBy, secrets } = documentOf<SecretDocument>(record)
  const overlapsUntil = secrets[1]?.until
  return {
    secretId: record.id,
    ...(destination !== undefined && { destination }),
    createdAt: record.createdAt,
    createdBy,
    ...(overlapsUntil !== undefined && { overlapsUntil }),
    version: record.version,
  }
}
