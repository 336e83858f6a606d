import type { Key, KeyInput, RotationInput } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import type { Caller } from '../../access/caller.ts'
import { MOST_KEYS, type KeyDocument } from '../../access/documents.ts'
import type { KeyRing } from '../../access/key-ring.ts'
import { overlapped } from '../../access/overlap.ts'
import { hashOf, newKeyText, writeKey } from '../../access/key-text.ts'
import { redactText } from '../../secrets.ts'
import { documentOf, type OperatorRecord, type WriteRecord } from '../../stores/task-store.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { changedMeanwhile, pathOf, replaceRecord } from './one-record.ts'
import { lineBy } from '../requests/audit-line.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/caller.ts'
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
      const document: KeyDocument = {
        ...(name !== undefined && { name }),
        scopes,
        createdBy: caller.actor,
        ...(expiresAt !== undefined && { expiresAt }),
        hashes: [{ hash: hashOf(text.secret) }],
      }
      const key: WriteRecord = {
        kind: 'key',
        id: text.keyId,
        tenant,
        document: { ...document },
        ifVersion: 0,
        most: MOST_KEYS,
        audit: {
          ...lineBy(caller, { tenant, action: 'key.create', subject: text.keyId, reason }),
          details: { scopes, isOperator },
        },
      }
      const written = await keys.write(key)
      if (written.kind !== 'written')
        throw new Refusal('too-many', { detail: `There are ${MOST_KEYS} keys already: revoke one that nobody uses.` })
      void reply.code(201).header('etag', etagOf(written.record.version))
      return reply.send({ ...keyView(written.record), key: writeKey(text) })
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
        write: key => keys.write(key),
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
      // Only operators can revoke a key of an operator, and so only they need turns: no tenant makes them wait.
      const isOperator = callerOf(request).isOperator
      const revoked = await (isOperator ? keys.inTurn(() => revoke(request, context)) : revoke(request, context))
      // No text of it is good any longer, so none overlaps.
      const { overlapsUntil: _, ...key } = keyView(revoked)
      return reply.send({ ...key, revokedAt: clock.now() })
    },
  )
}

/** A key that is rotated over and over must not escape its revocation. */
const MOST_TRIES = 5

async function revoke(request: FastifyRequest<OneKey>, context: ApiContext): Promise<OperatorRecord> {
  const { keys } = context
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const record = await ownKey(request, context)
    refuseReplaced(record.id, documentOf<KeyDocument>(record), callerOf(request))
    refuseOtherVersion(request, record)
    if (record.tenant === EVERY_TENANT) await refuseLastAdmin(record.id, keys)
    const { kind, id, tenant, version: ifVersion } = record
    const caller = callerOf(request)
    const audit = lineBy(caller, { tenant, action: 'key.revoke', subject: id, reason: request.query.reason })
    const written = await keys.write({ kind, id, tenant, document: null, ifVersion, audit })
    if (written.kind === 'removed') return record
  }
  throw changedMeanwhile('key')
}

async function refuseLastAdmin(keyId: string, keys: KeyRing): Promise<void> {
  await keys.load()
  if (keys.hasOtherAdmin(keyId)) return
  throw new Refusal('last-admin', {
    detail:
      'No other key could make keys for good: make another operator’s key first, with the scope admin and without an end.',
  })
}

/** A key gives no more than its maker has, and the first one must be able to make others. */
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

/** The text of before cannot shut out the newest one. */
function refuseReplaced(keyId: string, { hashes: [newest] }: KeyDocument, { actor, secretHash }: Caller): void {
  if (keyId !== actor || newest?.hash === secretHash) return
  throw new Refusal('scope-missing', {
    detail: 'This text of the key was replaced by a newer one: that one, or another key, rotates and revokes it.',
  })
}

/** What comes with a text that ends, by itself or because it was replaced, gives nobody one that goes on after it. */
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

/** The key of the path; that of another tenant is none. */
async function ownKey(request: FastifyRequest<OneKey>, { store }: ApiContext): Promise<OperatorRecord> {
  const { keyId } = request.params
  const { tenant, isOperator } = callerOf(request)
  const record = await store.record({ kind: 'key', id: keyId })
  if (record === undefined || !(record.tenant === tenant || isOperator))
    throw new Refusal('key-not-found', { detail: `${keyId} is no key of ${tenant}.` })
  return record
}

function keyView(record: OperatorRecord): Key {
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
