import type { StoredBody } from '@secondwind/client'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { BodyTooLargeError } from '../../bodies/body-store.ts'
import { keepBody } from '../../bodies/keep-body.ts'
import { neededAfterUpload } from '../../bodies/needed-until.ts'
import type { BodyRecord, PutBody } from '../../stores/store.ts'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { refuseClosedUploads } from '../tasks/closed-intake.ts'
import { callerOf } from '../requests/door.ts'
import { answer, refusals } from '../schemas/answers.ts'
import { BYTES, bodyRefField } from '../schemas/body.ts'
import { operation } from '../schemas/operation.ts'
import { component, parameters } from '../schemas/schema.ts'
import type { Intake } from '../tasks/intake.ts'
import { bodiesFull } from './body-refusals.ts'
import { readBody } from './read-body.ts'

interface OneBody {
  readonly Params: { readonly bodyRef: string }
}

const UNKNOWN_TYPE = 'application/octet-stream'
const LONGEST_TYPE = 255

/** What a reading counts: it takes a file descriptor more than memory, and 64 of them are enough. */
const READING_BYTES = 4_194_304

/** Bytes go straight to where they lie, and never more of them than the limit. */
export function addBodies(api: FastifyInstance, context: ApiContext, intake: Intake): void {
  api.addContentTypeParser('*', (_, payload, parsed) => parsed(null, payload))
  api.post(
    '/bodies',
    {
      bodyLimit: context.limits.uploadBytes,
      // It is a stream: a schema has nothing to look at.
      validatorCompiler: ({ schema, httpPart, ...route }) =>
        httpPart === 'body' ? () => true : api.validatorCompiler!({ schema, ...(httpPart && { httpPart }), ...route }),
      schema: operation({
        operationId: 'uploadBody',
        summary: 'Upload a large body once; tasks name it as `bodyRef`',
        tags: ['bodies'],
        scope: 'enqueue',
        querystring: parameters({}),
        body: { content: { [UNKNOWN_TYPE]: { schema: BYTES } } },
        response: {
          201: answer(component('Body'), 'It is on disk.', { location: 'Where it can be read.' }),
          200: answer(component('Body'), 'The same bytes are there already.'),
          ...refusals(408, 413, 415, 431),
        },
      }),
    },
    async (request, reply) => {
      const { tenant } = callerOf(request)
      intake.limit(tenant)
      refuseClosedUploads(tenant, context)
      const contentType = typeOf(request)
      refuseSize(request, context.limits.uploadBytes)
      const put = await receive(request, { tenant, contentType }, context)
      if (put.kind === 'full') throw bodiesFull(context.random)
      const { record } = put
      if (put.kind === 'created') void reply.code(201).header('location', `/bodies/${record.bodyRef}`)
      return reply.send(bodyView(record))
    },
  )

  api.get<OneBody>(
    '/bodies/:bodyRef',
    {
      config: { leastBytes: READING_BYTES },
      schema: operation({
        operationId: 'getBody',
        summary: 'The bytes of a body',
        tags: ['bodies'],
        scope: 'read-bodies',
        params: parameters({ bodyRef: bodyRefField }),
        querystring: parameters({}),
        response: {
          200: { description: 'As they were uploaded.', content: { [UNKNOWN_TYPE]: { schema: BYTES } } },
          ...refusals(404),
        },
      }),
    },
    async (request, reply) => {
      const name = { tenant: callerOf(request).tenant, bodyRef: request.params.bodyRef }
      const { record, bytes } = await readBody(name, context, request.log)
      return reply.headers(headersOf(record)).send(Readable.from(bytes, { objectMode: false }))
    },
  )
}

function typeOf({ headers }: FastifyRequest): string {
  const { 'content-type': type = UNKNOWN_TYPE, 'content-encoding': encoding = 'identity' } = headers
  if (encoding !== 'identity')
    throw new Refusal('unsupported-media-type', {
      detail: 'Bytes are kept as they come: send them without content-encoding, or as what they are.',
      headers: { 'accept-encoding': 'identity' },
    })
  if (type.length > LONGEST_TYPE)
    throw new Refusal('invalid-request', { detail: `content-type has more than ${LONGEST_TYPE} characters.` })
  return type
}

/** A body whose head announces too many bytes is refused before it is read. */
function refuseSize({ headers, body }: FastifyRequest, mostBytes: number): void {
  const bytes = Number(headers['content-length'] ?? mostBytes)
  if (body === undefined || bytes === 0)
    throw new Refusal('invalid-request', { detail: 'It has no body: send the bytes themselves.' })
  if (bytes > mostBytes) throw tooLarge(mostBytes)
}

async function receive(
  { body }: FastifyRequest,
  whose: { readonly tenant: string; readonly contentType: string },
  context: ApiContext,
): Promise<PutBody> {
  const { uploadBytes, backlog } = context.limits
  // The connection is still needed for the answer.
  const bytes = (body as Readable).iterator({ destroyOnReturn: false })
  const neededUntil = neededAfterUpload(context.clock.now())
  const mostBytesOfTenant = backlog.bodyBytes ?? Infinity
  try {
    return await keepBody(context, { ...whose, bytes, neededUntil, mostBytes: uploadBytes, mostBytesOfTenant })
  } catch (error) {
    throw error instanceof BodyTooLargeError ? tooLarge(uploadBytes) : error
  }
}

function tooLarge(mostBytes: number): Refusal {
  return new Refusal('body-too-large', { detail: `At most ${mostBytes} bytes are taken; nothing of it was kept.` })
}

function bodyView({ bodyRef, sizeBytes, contentType, createdAt }: BodyRecord): StoredBody {
  return { bodyRef, sizeBytes, contentType, createdAt }
}

/** The bytes come from a caller: no browser shall take them for a page of ours, whatever their type says. */
function headersOf({ bodyRef, sizeBytes, contentType }: BodyRecord): { readonly [name: string]: string } {
  const sha256 = Buffer.from(bodyRef.slice('sha256-'.length), 'hex').toString('base64')
  return {
    'content-type': contentType,
    'content-length': String(sizeBytes),
    'content-disposition': 'attachment',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private',
    etag: `"${bodyRef}"`,
    // RFC 9530 §3.
    'repr-digest': `sha-256=:${sha256}:`,
  }
}
