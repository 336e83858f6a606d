import { ResilienceError, systemClock, type Clock } from '@secondwind/resilience'
import { check } from '@secondwind/resilience/rules'
import { refuse } from '../check/fields.ts'
import {
  ID_HEADER,
  readSignatures,
  secretBytes,
  SIGNATURE_HEADER,
  signedHead,
  TIMESTAMP_HEADER,
} from './standard-webhooks.ts'

/** A delivery as it arrived; a `Request` of the platform is one, too, and is read to its end. */
export interface SignedRequest {
  readonly headers: Headers | { readonly [name: string]: string | readonly string[] | undefined }
  /** The bytes as they came: JSON that was parsed and written again is another text. */
  readonly body: Uint8Array | ArrayBuffer | string
}

export interface VerifyOptions {
  /** How far its instant may be from now, before or after: 5 minutes unless told. */
  readonly toleranceMs?: number
  readonly ports?: { readonly clock?: Pick<Clock, 'now'> }
}

/** A delivery that is what its sender signed. */
export interface VerifiedDelivery {
  /** The same with every attempt: who has seen it has seen the delivery. */
  readonly taskId: string
  /** When the attempt was made, to the second. */
  readonly sentAt: number
  /** What was signed. */
  readonly body: Uint8Array<ArrayBuffer>
}

export type SignatureErrorCode = 'signature-missing' | 'signature-wrong' | 'timestamp-outside'

/** The delivery is not to be trusted: answer with 401 and do nothing. */
export class SignatureError extends ResilienceError<SignatureErrorCode> {
  override get name(): string {
    return 'SignatureError'
  }
}

/** The reference implementations' own. */
const TOLERANCE_MS = 300_000

/**
 * Checks a signed delivery, and throws a `SignatureError` if it is none. With several secrets one that fits is enough: while
 * a secret is replaced, deliveries carry a signature of each.
 */
export async function verifySignature(
  request: Request | SignedRequest,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<VerifiedDelivery> {
  const keys = readSecrets(secrets, options)
  const { toleranceMs = TOLERANCE_MS, ports: { clock = systemClock } = {} } = options
  const { taskId, sentAtSeconds, signatures } = readHeaders(request.headers)
  const sentAt = sentAtSeconds * 1_000
  const now = clock.now()
  if (Math.abs(now - sentAt) > toleranceMs)
    throw new SignatureError(
      'timestamp-outside',
      `the delivery was signed ${Math.round(Math.abs(now - sentAt) / 1_000)} s ${sentAt < now ? 'ago' : 'ahead of the clock here'}, ${toleranceMs / 1_000} s are allowed: it is repeated by somebody, or a clock is wrong`,
    )
  const body = await readBody(request)
  const signed = concatenated(new TextEncoder().encode(signedHead(taskId, sentAtSeconds)), body)
  for (const key of keys) if (await fits(key, signatures, signed)) return { taskId, sentAt, body }
  throw new SignatureError(
    'signature-wrong',
    'no signature of the delivery fits the secret: it is forged, its body was changed on the way, or the secret is another',
  )
}

function readSecrets(secrets: string | readonly string[], options: VerifyOptions): Uint8Array<ArrayBuffer>[] {
  const given: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets]
  const keys = given.map(secret => (typeof secret === 'string' ? secretBytes(secret) : undefined))
  refuse('a signature cannot be verified so', [
    ...(given.length === 0 ? [{ at: 'secrets', is: secrets, say: 'must hold at least one secret' }] : []),
    ...keys.flatMap((key, at) =>
      key === undefined ? { at: `secrets[${at}]`, is: given[at], say: 'must be a text whsec_… in base64' } : [],
    ),
    ...check.checkFields(options, FIELDS, WRONG_WORDS),
  ])
  return keys as Uint8Array<ArrayBuffer>[]
}

const FIELDS: { readonly [option in keyof VerifyOptions]-?: check.FieldCheck } = {
  toleranceMs: value =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? undefined : 'milliseconds, 0 or more',
  ports: value => (check.isRecord(value) ? undefined : 'an object'),
}

const WRONG_WORDS: check.WrongWords = { tolerance: 'toleranceMs', toleranceSeconds: 'toleranceMs' }

interface SignatureParts {
  readonly taskId: string
  readonly sentAtSeconds: number
  readonly signatures: readonly Uint8Array<ArrayBuffer>[]
}

function readHeaders(headers: SignedRequest['headers']): SignatureParts {
  const [taskId, timestamp, signature] = [ID_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER].map(name =>
    read(headers, name),
  )
  if (!taskId || !timestamp || !/^\d{1,12}$/.test(timestamp) || !signature)
    throw new SignatureError(
      'signature-missing',
      `the delivery is not signed: ${ID_HEADER}, ${TIMESTAMP_HEADER} and ${SIGNATURE_HEADER} must be there`,
    )
  // Dots part what is signed: with one in the id, a delivery could be cut at another place, and its signature still fit.
  if (taskId.includes('.'))
    throw new SignatureError(
      'signature-wrong',
      `the ${ID_HEADER} has a dot, which no signed delivery has: it is forged`,
    )
  return { taskId, sentAtSeconds: Number(timestamp), signatures: readSignatures(signature) }
}

function read(headers: SignedRequest['headers'], wanted: string): string | undefined {
  if (isHeaders(headers)) return headers.get(wanted) ?? undefined
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted) ?? []
  // Given twice, it says nothing: one of the two came from somebody else.
  return typeof value === 'string' ? value : undefined
}

/** Not by its class: another realm, or a polyfill, has one of its own. */
function isHeaders(headers: SignedRequest['headers']): headers is Headers {
  return typeof headers['get'] === 'function'
}

async function readBody(request: Request | SignedRequest): Promise<Uint8Array<ArrayBuffer>> {
  if ('arrayBuffer' in request) return new Uint8Array(await request.arrayBuffer())
  const { body } = request
  return typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
}

function concatenated(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + body.length)
  whole.set(head)
  whole.set(body, head.length)
  return whole
}

/** The platform compares, and takes as long for a near miss as for any other. */
async function fits(
  key: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { subtle } = globalThis.crypto
  const hmac = await subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  for (const signature of signatures) if (await subtle.verify('HMAC', hmac, signature, signed)) return true
  return false
}
