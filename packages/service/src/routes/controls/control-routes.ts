/** The kill switch. */
import type { Control as ShownControl } from '@secondwind/client'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { ownerOf, type Caller } from '../../access/caller.ts'
import { cursorOf } from '../../stores/cursor.ts'
import { isRoomFor } from '../../stores/record-pages.ts'
import type { Page, PageAsk } from '../../stores/store.ts'
import { writtenRecord } from '../../stores/written-record.ts'
import { controlOf, type KnownControl } from '../../steering/standing-orders.ts'
import { isInForce, type Control } from '../../task/control.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { newId } from '../requests/new-id.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { lineBy } from '../requests/audit-line.ts'
import { bindCursor, openCursor } from '../requests/bound-cursor.ts'
import { callerOf } from '../requests/door.ts'
import { etagOf, IF_MATCH, refuseOtherVersion } from '../requests/if-match.ts'
import { readFlags, readNumbers } from '../requests/query.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { CONTROL_PREVIEW, type ControlInput } from '../schemas/control.ts'
import { DEFAULT_PAGE, pageFields, reasonField, uuidField, type PageQuery } from '../schemas/fields.ts'
import { operation } from '../schemas/operation.ts'
import { component, pageOf, parameters } from '../schemas/schema.ts'
import { controlView, holdsOf, previewOf } from './control-view.ts'
import { readControl } from './read-control.ts'

/** Of a tenant, those that ended within the last day included: more are a loop that forgot to end them. */
const MOST_CONTROLS = 500
/** An operator can throw the switch for a tenant that has used up its own. */
const MOST_OF_OPERATORS = 10 * MOST_CONTROLS

const CONTROL = component('Control')
const WITH_VERSION = { etag: 'Its version.' }
const QUERY = parameters({
  ...pageFields,
  ended: Type.Optional(Type.Boolean({ description: 'Those that ended within the last day, too.' })),
})
const CONTROL_PATH = parameters({ controlId: uuidField('the id of a control') })

interface OneControl {
  readonly Params: { readonly controlId: string }
  readonly Querystring: { readonly reason?: string }
}

export function addControls(api: FastifyInstance, context: ApiContext): void {
  const { store, orders, clock, random } = context

  api.post<{ Body: ControlInput }>(
    '/controls',
    {
      schema: operation({
        operationId: 'createControl',
        scope: 'operate',
        summary: 'Throw the kill switch: in force everywhere within two seconds, and nothing is dropped',
        tags: ['controls'],
        querystring: parameters({}),
        body: component('ControlInput'),
        response: {
          201: answer(CONTROL, 'It is in force.', { location: 'Where it can be read.', ...WITH_VERSION }),
          200: answer(CONTROL_PREVIEW, 'What it would hold: nothing was written.'),
          ...refusals(404, 408, 413, 415),
        },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const read = await readControl(request.body, caller, context)
      const control: Control = { ...read, controlId: newId(clock.now(), random) }
      const count = () => holdsOf(control, caller, store)
      if (request.body.preview === true) return reply.send(previewOf(control, await count()))
      const made = await writeControl(
        { control, ifVersion: 0, caller, action: 'control.create', reason: control.reason },
        context,
      )
      // Counted afterwards: a kill switch waits for nothing. What cannot be counted is held all the same.
      const holds = await count().catch(() => undefined)
      void reply.code(201).header('location', `/controls/${control.controlId}`)
      return sendControl(reply, { ...controlView(made, clock.now()), ...(holds && { holds }) })
    },
  )

  api.get<{ Querystring: PageQuery & { readonly ended?: boolean } }>(
    '/controls',
    {
      preValidation: [readNumbers(QUERY), readFlags(QUERY)],
      schema: operation({
        operationId: 'listControls',
        scope: 'read',
        summary: 'What is switched off, the newest first',
        tags: ['controls'],
        querystring: QUERY,
        response: { 200: answer(pageOf(CONTROL), 'A page.'), ...refusals() },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { ended = false, cursor, limit = DEFAULT_PAGE } = request.query
      const now = clock.now()
      const asked = { owner: ownerOf(caller), ended }
      const shown = orders.controls.filter(each => concerns(each, caller) && (ended || isInForce(each, now)))
      return reply.send(bindCursor(pageFrom(shown, { ...openCursor(cursor, asked), limit }, now), asked))
    },
  )

  api.get(
    '/controls/state',
    {
      schema: operation({
        operationId: 'getControlState',
        scope: 'read',
        summary: 'What is in force for whoever asks, for libraries that follow it: small, with an ETag',
        tags: ['controls'],
        querystring: parameters({}),
        headers: Type.Object({ 'If-None-Match': Type.Optional(Type.String()) }),
        response: {
          200: answer(component('ControlState'), 'The state.', { etag: 'Another one when it has changed.' }),
          304: { description: 'It is as it was.', type: 'null' },
          ...refusals(),
        },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const now = clock.now()
      const controls = orders.controls
        .filter(each => concerns(each, caller) && isInForce(each, now))
        .map(({ controlId, level, scope, reason, expiresAt }) => ({
          controlId,
          level,
          scope,
          reason,
          ...(expiresAt !== undefined && { expiresAt }),
        }))
      // The time is no part of it: weak, by RFC 9110 §8.8.1.
      const etag = `W/"${createHash('sha256').update(JSON.stringify(controls)).digest('base64url').slice(0, 22)}"`
      void reply.header('etag', etag).header('cache-control', 'private, no-cache')
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send({ now, controls })
    },
  )

  api.get<OneControl>(
    '/controls/:controlId',
    {
      schema: operation({
        operationId: 'getControl',
        scope: 'read',
        summary: 'One control, and what it holds now of whoever asks',
        tags: ['controls'],
        params: CONTROL_PATH,
        querystring: parameters({}),
        response: { 200: answer(CONTROL, 'The control.', WITH_VERSION), ...refusals(404) },
      }),
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const control = await ownControl(request, context)
      return sendControl(reply, {
        ...controlView(control, clock.now()),
        holds: await holdsOf(control, caller, store),
      })
    },
  )

  api.delete<OneControl>(
    '/controls/:controlId',
    {
      schema: operation({
        operationId: 'endControl',
        scope: 'operate',
        summary: 'End it: what it held comes back step by step',
        tags: ['controls'],
        params: CONTROL_PATH,
        querystring: parameters({ reason: Type.Optional(reasonField) }),
        headers: IF_MATCH,
        response: { 200: answer(CONTROL, 'It is over.', WITH_VERSION), ...refusals(404, 409, 412) },
      }),
    },
    async (request, reply) => {
      const control = await ownControl(request, context)
      const caller = callerOf(request)
      const now = clock.now()
      refuseForeignEnd(control, caller)
      refuseOtherVersion(request, control)
      if (!isInForce(control, now)) return sendControl(reply, controlView(control, now))
      const { version: ifVersion, ...known } = control
      const ended = { ...known, endedAt: now, endedBy: caller.actor }
      const { reason } = request.query
      const written = await writeControl({ control: ended, ifVersion, caller, action: 'control.end', reason }, context)
      return sendControl(reply, controlView(written, now))
    },
  )
}

function sendControl(reply: FastifyReply, shown: ShownControl): FastifyReply {
  return reply.header('etag', etagOf(shown.version)).send(shown)
}

interface ControlChange {
  readonly control: Control
  readonly ifVersion: number
  readonly caller: Caller
  readonly action: string
  readonly reason: string | undefined
}

async function writeControl(
  { control, ifVersion, caller, action, reason }: ControlChange,
  { store, orders }: ApiContext,
): Promise<KnownControl> {
  const { controlId, tenant = EVERY_TENANT, level, scope, expiresAt } = control
  const { controlId: _, tenant: __, ...document } = control
  const most = caller.isOperator ? MOST_OF_OPERATORS : MOST_CONTROLS
  if (ifVersion === 0 && !(await isRoomFor(store, { kind: 'control', tenant, most })))
    throw new Refusal('too-many', { detail: `There are ${most} controls of the last day already.` })
  const written = await store.write([{ kind: 'control', id: controlId, tenant, document, ifVersion }], {
    ...lineBy(caller, { tenant, action, subject: controlId, reason }),
    details: { level, scope, ...(expiresAt !== undefined && { expiresAt }) },
  })
  if (written.kind === 'conflict')
    throw new Refusal('write-conflict', { detail: 'Another caller ended it at the same moment; read it again.' })
  // In force here from now on; elsewhere after the next beat.
  await orders.refresh()
  return controlOf(writtenRecord(written))
}

/** A control that reaches something of the caller's, or would. Operators see all. */
function concerns({ tenant, scope }: Control, caller: Caller): boolean {
  if (caller.isOperator || scope.kind === 'all') return true
  return caller.tenant === (scope.kind === 'tenant' ? scope.tenant : (tenant ?? caller.tenant))
}

function refuseForeignEnd({ isByOperator, createdBy }: Control, caller: Caller): void {
  if (caller.isOperator || !isByOperator) return
  throw new Refusal('scope-missing', {
    detail: `Whoever runs the service has thrown it (${createdBy}), and alone ends it.`,
  })
}

async function ownControl(request: FastifyRequest<OneControl>, { store }: ApiContext): Promise<KnownControl> {
  const { controlId } = request.params
  const record = await store.record({ kind: 'control', id: controlId })
  const control = record && controlOf(record)
  if (control !== undefined && concerns(control, callerOf(request))) return control
  throw new Refusal('control-not-found', {
    detail: `${controlId} is unknown: it never was, or it ended more than a day ago.`,
  })
}

const CURSOR = cursorOf('controls', 'string')

/** By id, which grows with time. */
function pageFrom(controls: readonly KnownControl[], { cursor, limit }: PageAsk, now: number): Page<ShownControl> {
  const [last] = cursor === undefined ? [] : CURSOR.read(cursor)
  const left = controls
    .filter(({ controlId }) => last === undefined || controlId < last)
    .toSorted((one, other) => (one.controlId < other.controlId ? 1 : -1))
  const items = left.slice(0, limit)
  return {
    items: items.map(control => controlView(control, now)),
    ...(left.length > limit && { nextCursor: CURSOR.write([items.at(-1)!.controlId]) }),
  }
}
