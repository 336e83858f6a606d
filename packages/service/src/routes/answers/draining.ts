import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '@secondwind/resilience'
import type { FastifyInstance } from 'fastify'
import { hasBody } from '../requests/body-headers.ts'

/** A caller that is still sending so late, or so much, has had the time to hear. */
const DRAIN_MS = 2_000
const DRAIN_BYTES = 33_554_432

/**
 * Reads on, and throws away, what comes in behind a refusal. A connection that is closed while its client sends is a network
 * error to it, which it would try again; the refusal would never be read.
 */
export function drainRefused(api: FastifyInstance, clock: Clock): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode >= 400 && hasBody(request.headers) && !request.raw.complete) {
      void reply.removeHeader('connection')
      drain(request.raw, clock)
    }
    done(null, payload)
  })
}

function drain(incoming: IncomingMessage, clock: Clock): void {
  let left = DRAIN_BYTES
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) incoming.destroy()
  })
  incoming.resume()
  hangUpSoon(incoming, clock)
}

/** Whoever does not close its own side has had the time to: it would keep a descriptor for as long as it likes. */
export function hangUpSoon(stream: Duplex | IncomingMessage, clock: Clock): void {
  const closed = new AbortController()
  stream.once('close', () => closed.abort())
  void clock.sleep(DRAIN_MS, closed.signal).then(
    () => stream.destroy(),
    () => undefined,
  )
}
