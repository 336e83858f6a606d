import { isIP, type LookupFunction, type Socket } from 'node:net'
import { getCACertificates } from 'node:tls'
import { callbackify } from 'node:util'
import { buildConnector } from 'undici'
import { withoutLastDot } from '../../host-name.ts'
import type { Guard } from '../guard.ts'
import { boundAnswers } from './bound-answers.ts'

export interface ConnectorOptions {
  readonly guard: Guard
  readonly port: number
  /** For the name, the connection and TLS together. */
  readonly connectTimeoutMs: number
  /** Certificates that are trusted besides those of Node, as PEM. */
  readonly ca?: readonly string[]
  /** Of one answer, whatever they are. */
  readonly mostAnswerBytes: number
}

export interface Connector {
  readonly connect: buildConnector.connector
  /** Ends connections that have not come about yet, and asks for no name any more: nobody waits for them. */
  giveUp(): void
}

/** Opens sockets to what the guard has checked, and to nothing else. One per origin, for the guard is asked with its port. */
export function createConnector({ guard, port, connectTimeoutMs, ca, mostAnswerBytes }: ConnectorOptions): Connector {
  const connecting = new Set<Socket>()
  const asking = new Set<AbortController>()
  const resolve = callbackify(async (host: string) => {
    const left = new AbortController()
    asking.add(left)
    try {
      return await guard.resolve(host, port, left.signal)
    } finally {
      asking.delete(left)
    }
  })
  const lookup: LookupFunction = (host, { all }, callback) =>
    resolve(host, (error, addresses) => {
      if (error !== null) callback(error, [])
      else if (all) callback(null, [...addresses])
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  const open = buildConnector({
    allowH2: false,
    timeout: connectTimeoutMs,
    // A list takes the place of what Node trusts by itself.
    ...(ca !== undefined && { ca: [...getCACertificates('default'), ...ca] }),
    autoSelectFamily: true,
    lookup,
  })

  const begin: buildConnector.connector = (options, callback) => {
    const { hostname } = options
    // The name stays the host's: it is what the certificate and the server are asked for. RFC 6066 §3: without the dot
    // at its end, which the resolver and the Host header keep.
    const named = hostname.endsWith('.') ? { ...options, servername: withoutLastDot(hostname) } : options
    const socket: unknown = open(named, (...answer) => {
      connecting.delete(socket as Socket)
      const [, opened] = answer
      if (opened) boundAnswers(opened, mostAnswerBytes)
      callback(...answer)
    })
    connecting.add(socket as Socket)
  }
  return {
    connect(options, callback) {
      // Node resolves no literal address, and so would never ask the guard about one.
      if (isIP(options.hostname) === 0) begin(options, callback)
      else resolve(options.hostname, error => (error === null ? begin(options, callback) : callback(error, null)))
    },
    giveUp() {
      for (const socket of connecting) socket.destroy(new Error('nobody waits for this connection'))
      for (const left of asking) left.abort()
    },
  }
}
