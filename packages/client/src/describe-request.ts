import type { ExhaustedFetch } from '@secondwind/resilience/fetch'
import { HandOverError, type TaskDescription } from './hand-over.ts'
import type { Method } from './wire/task.ts'

/** Of one connection, or written by the service anew for every attempt. */
const NOT_CARRIED: readonly string[] = [
  'connection',
  'content-length',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'proxy-connection',
  'retry-attempt',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-timeout-ms',
]

/** RFC 9110 §9.2.2, of those that the service sends. */
const IDEMPOTENT_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']

/** A call of `createFetch` as it would be made again: `onExhausted: handOver(client, describeRequest)`. */
export async function describeRequest(exhausted: ExhaustedFetch): Promise<TaskDescription> {
  const request = await exhausted.request()
  const { url, method, headers } = request
  // At the deadline a call may be under way that carried no key: the target could not know the next one for the same.
  if (exhausted.history.attempts > 0 && !IDEMPOTENT_METHODS.includes(method) && !headers.has('idempotency-key'))
    throw new HandOverError(
      'not-repeatable',
      `${method} without an Idempotency-Key may have been carried out: call it with idempotencyKey: true to have it handed over`,
    )
  const carried = Array.from(headers).filter(([name]) => !NOT_CARRIED.includes(name))
  return {
    targetUrl: withoutFragment(url),
    method: method as Method,
    headers: Object.fromEntries(carried),
    ...(await bodyOf(request)),
  }
}

/** As bytes, whatever they are: a signature is over bytes. */
async function bodyOf(request: Request): Promise<Pick<TaskDescription, 'bodyBase64'>> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  if (bytes.length === 0) return {}
  return { bodyBase64: btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join('')) }
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0]!
}
