import type { Key, KeyInput, RotationInput } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import { MOST_KEYS, OPERATORS, type KeyDocument } from '../../access/documents.ts'
import { overlapped } from '../../access/overlap.ts'
import { hashOf, newKeyText, writeKey } from '../../access/key-ring.ts'
import { redactText } from '../../secrets.ts'
import { isRoomFor } from '../../stores/record-pages.ts'
import { documentOf, type RecordWrite, type StoredRecord } from '../../stores/store.ts'
import { writtenRecord } from '../../stores/written-record.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { changedMeanwhile, pathOf, replaceRecord } from './one-record.ts'
import { lineBy } from '../requests/audit-line.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, refuseOtherVersion } from '../requests/if-match.ts'
import { readFlags, readNumbers } from '../requests/query.ts'
import { invalid } from '../requests/validation.ts'
import { KEY, NEW_KEY, ROTATION, USUAL_OVERLAP_MS } from '../schemas/access.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { DEFAULT_PAGE, pageFields, reasonField, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { pageOf, parameters } from '../schemas/schema.ts'

const QUERY = parameters({
  ...pageFields,
  all: Type.Optional(
    Type.Boolean({ description: 'Of every tenant and of operators, as an operator sees them who names no tenant.' }),
  ),
})
const KEY_PATH = pathOf('key')
const REASON_QUERY = parameters({ reason: Type.Optional(reasonField) })

const WITH_VERSION = { etag: 'Its version.' }

interface OneKey {
  readonly Params: { readonly keyId: string }
  readonly Body: RotationInput
  readonly Querystring: { readonly reason?: string }
}

export function addKeys(api: FastifyInstance, context: ApiContext): void {
  const { store, keys, clock } = context

  api.post<{ Body: KeyInput }>(
    '/keys',
    {
      schema: operation({
        operationId: 'createKey',
        scope: 'admin',
        summary: 'Make a key. With the first one every request needs a key',
        tags: ['access'],
        querystring: parameters({}),
        body: NEW_KEY,
        response: { 201: answer(KEY, 'The key, shown this once.', WITH_VERSION), ...refusals(408, 409, 413, 415) },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { scopes, isOperator = false, name, expiresAt, reason } = request.body
      refuseUnfit(request.body, caller, context)
      const text = newKeyText(randomBytes)
      const tenant = isOperator ? EVERY_TENANT : caller.tenant
      if (!(await isRoomFor(store, { kind: 'key', tenant, most: MOST_KEYS })))
        throw new Refusal('too-many', {
          detail: `There are ${MOST_KEYS} keys already: revoke one that is no longer used.`,
        })
      const document: KeyDocument = {
        ...(name !== undefined && { name }),
        scopes,
        createdBy: caller.actor,
        ...(expiresAt !== undefined && { expiresAt }),
        hashes: [{ hash: hashOf(text.secret) }],
      }
      const written = await keys.write(
        [{ kind: 'key', id: text.keyId, tenant, document: { ...document }, ifVersion: 0 }],
        {
          ...lineBy(caller, { tenant, action: 'key.create', subject: text.keyId, reason }),
          details: { scopes, isOperator },
        },
      )
      // Two texts of eight random bytes that are the same: the caller asks again.
      if (written.kind === 'conflict') throw changedMeanwhile('key')
      const made = writtenRecord(written)
      void reply.code(201).header('etag', etagOf(made.version))
      return reply.send({ ...keyView(made), key: writeKey(text) })
    },
  )

  api.get<{ Querystring: PageQuery & { readonly all?: boolean } }>(
    '/keys',
    {
      preValidation: [readNumbers(QUERY), readFlags(QUERY)],
      schema: operation({
        operationId: 'listKeys',
        scope: 'admin',
        summary: 'Every key of the tenant, without what makes it one',
        tags: ['access'],
        querystring: QUERY,
        response: { 200: answer(pageOf(KEY), 'A page, by id.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { tenant, isOperator, isForAll } = caller
      const { cursor, limit = DEFAULT_PAGE, all = isForAll } = request.query
      if (all && !isOperator) throw new Refusal('scope-missing', { detail: 'Only an operator sees the keys of all.' })
      const asked = { kind: 'key', ...(!all && { tenant }) } as const
      const found = await store.records({ ...asked, limit, ...openCursor(cursor, asked) })
      const page = bindCursor(found, asked)
      return reply.send({ ...page, items: page.items.map(keyView) })
    },
  )

  api.post<OneKey>(
    '/keys/:keyId/rotate',
    {
      schema: operation({
        operationId: 'rotateKey',
        scope: 'admin',
        summary: 'Give a key a new text; the old one is good for a while yet',
        tags: ['access'],
        params: KEY_PATH,
        querystring: parameters({}),
        headers: IF_MATCH,
        body: ROTATION,
        response: {
          200: answer(KEY, 'The key, shown this once.', WITH_VERSION),
          ...refusals(404, 408, 409, 412, 413, 415),
        },
      }),
    },
    async (request, reply) => {
      const { overlapMs = USUAL_OVERLAP_MS, reason } = request.body
      const record = await ownKey(request, context)
      const document = documentOf<KeyDocument>(record)
      refuseReplaced(record.id, document, callerOf(request))
      refuseOutlasting(document, callerOf(request))
      const { secret } = newKeyText(randomBytes)
      const until = clock.now() + overlapMs
      const rotated = await replaceRecord(request, {
        what: 'key',
        record,
        document: { ...document, hashes: overlapped({ hash: hashOf(secret) }, document.hashes, until) },
        audit: {
          ...lineBy(callerOf(request), { tenant: record.tenant, action: 'key.rotate', subject: record.id, reason }),
          details: { overlapMs },
        },
        write: (writes, audit) => keys.write(writes, audit),
      })
      void reply.header('etag', etagOf(rotated.version))
      return reply.send({ ...keyView(rotated), key: writeKey({ keyId: record.id, secret }) })
    },
  )

  api.delete<OneKey>(
    '/keys/:keyId',
    {
      schema: operation({
        operationId: 'revokeKey',
        scope: 'admin',
        summary: 'Revoke a key: refused from now on, by other instances a second later',
        tags: ['access'],
        params: KEY_PATH,
        querystring: REASON_QUERY,
        headers: IF_MATCH,
        response: { 200: answer(KEY, 'It is revoked.'), ...refusals(404, 409, 412) },
      }),
    },
    async (request, reply) => {
      const revoked = await revoke(request, context)
      // No text of it is good any longer, so none overlaps.
      const { overlapsUntil: _, ...key } = keyView(revoked)
      return reply.send({ ...key, revokedAt: clock.now() })
    },
  )
}

/** A key that is rotated over and over must not escape its revocation; operators may revoke many keys at once. */
const MOST_TRIES = 20

async function revoke(request: FastifyRequest<OneKey>, context: ApiContext): Promise<StoredRecord> {
  const { keys } = context
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const record = await ownKey(request, context)
    refuseReplaced(record.id, documentOf<KeyDocument>(record), callerOf(request))
    refuseOtherVersion(request, record)
    const along = record.tenant === EVERY_TENANT ? [await keepingAnAdmin(record.id, context)] : []
    const { kind, id, tenant, version: ifVersion } = record
    const caller = callerOf(request)
    const audit = lineBy(caller, { tenant, action: 'key.revoke', subject: id, reason: request.query.reason })
    const written = await keys.write([{ kind, id, tenant, document: null, ifVersion }, ...along], audit)
    if (written.kind === 'written') return record
  }
  throw changedMeanwhile('key')
}

/** The write that conflicts if an operator's key is revoked from now on; refused if no other key could make keys for good. */
async function keepingAnAdmin(keyId: string, { store, keys }: ApiContext): Promise<RecordWrite> {
  // Read before the keys are: so it is another version if one of the keys that are found is gone by then.
  const ifVersion = (await store.record(OPERATORS))?.version ?? 0
  await keys.load()
  if (keys.hasOtherAdmin(keyId)) return { ...OPERATORS, tenant: EVERY_TENANT, document: {}, ifVersion }
  throw new Refusal('last-admin', {
    detail:
      'No other key could make keys for good: make another operator’s key first, with the scope admin and without an end.',
  })
}

/** A key grants no scope that its creator does not have, and the first key must be able to make others. */
function refuseUnfit(input: KeyInput, caller: Caller, { keys, wallNow }: ApiContext): void {
  const { isOperator = false, scopes, name = '', expiresAt } = input
  const problems: Problem[] = []
  if (redactText(name) !== name)
    problems.push({ at: 'name', is: name, say: 'must not hold a key or another secret: every list shows it' })
  if (expiresAt !== undefined && expiresAt <= wallNow())
    problems.push({ at: 'expiresAt', is: expiresAt, say: 'is past' })
  if (problems.length > 0) throw invalid('body', problems)
  if (isOperator && !caller.isOperator)
    throw new Refusal('scope-missing', { detail: 'Only an operator can make a key of an operator.' })
  refuseOutlasting({ expiresAt }, caller)
  const isAdmin = isOperator && scopes.includes('admin') && expiresAt === undefined
  if (!keys.isInForce && !isAdmin)
    throw new Refusal('last-admin', {
      detail:
        'There is no key yet, and from the first on every request needs one: make an operator’s first, with the scope admin and without an end, and this one with it.',
    })
}

/** The previous text of a key cannot shut out the newest one. */
function refuseReplaced(keyId: string, { hashes: [newest] }: KeyDocument, { actor, secretHash }: Caller): void {
  if (keyId !== actor || newest?.hash === secretHash) return
  throw new Refusal('scope-missing', {
    detail: 'This text of the key was replaced by a newer one: that one, or another key, rotates and revokes it.',
  })
}

/** A caller whose text ends, with its key or because it was replaced, cannot make a key that outlasts it. */
function refuseOutlasting(
  { expiresAt: end = Infinity }: { readonly expiresAt?: number | undefined },
  caller: Caller,
): void {
  const { expiresAt = Infinity } = caller
  if (end <= expiresAt) return
  throw new Refusal('scope-missing', {
    detail: `A key gives no more than its maker has: what you came with ends at ${expiresAt}, and this key would outlast it. Give it an expiresAt that is no later, or come with a key that lasts.`,
  })
}

/** The key of the path. A key of another tenant is unknown. */
async function ownKey(request: FastifyRequest<OneKey>, { store }: ApiContext): Promise<StoredRecord> {
  const { keyId } = request.params
  const { tenant, isOperator } = callerOf(request)
  const record = await store.record({ kind: 'key', id: keyId })
  if (record === undefined || !(record.tenant === tenant || isOperator))
    throw new Refusal('key-not-found', { detail: `${keyId} is no key of ${tenant}.` })
  return record
}

function keyView(record: StoredRecord): Key {
  const { name, scopes, createdBy, expiresAt, hashes } = documentOf<KeyDocument>(record)
  const isOperator = record.tenant === EVERY_TENANT
  const overlapsUntil = hashes[1]?.until
  return {
    keyId: record.id,
    ...(name !== undefined && { name }),
    ...(!isOperator && { tenant: record.tenant }),
    isOperator,
    scopes,
    createdAt: record.createdAt,
    createdBy,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(overlapsUntil !== undefined && { overlapsUntil }),
    version: record.version,
  }
}
