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

/** Opens the socket of one connection, and another when that is gone. */
export interface Opening {
  readonly connect: buildConnector.connector
  /** Somebody waits for a socket. */
  readonly isUnderWay: boolean
  /** Nobody does any more: it is not opened, and its name is not asked for. */
  giveUp(): void
}

/**
 * Opens sockets to what the guard has checked, and to nothing else. One per origin: the guard is asked with its port, and
 * its connections go on with each other's TLS sessions.
 */
export function createConnector(options: ConnectorOptions): () => Opening {
  const { guard, port, connectTimeoutMs, ca, mostAnswerBytes } = options
  const resolve = callbackify((host: string, signal: AbortSignal) => guard.resolve(host, port, signal))
  // Whose name Node asks for: it does so before `open` returns, and cannot say for whom.
  let asking = new AbortController().signal
  const lookup: LookupFunction = (host, { all }, callback) =>
    resolve(host, asking, (error, addresses) => {
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

  const begin = (signal: AbortSignal, asked: buildConnector.Options, callback: buildConnector.Callback): void => {
    const { hostname } = asked
    // The name stays the host's: it is what the certificate and the server are asked for. RFC 6066 §3: without the dot
    // at its end, which the resolver and the Host header keep.
    const named = hostname.endsWith('.') ? { ...asked, servername: withoutLastDot(hostname) } : asked
    asking = signal
    // undici hands the socket back at once, though its types do not say so.
    const socket = open(named, (...answer) => {
      signal.removeEventListener('abort', leave)
      const [, opened] = answer
      if (opened) boundAnswers(opened, mostAnswerBytes)
      callback(...answer)
    }) as unknown as Socket
    const leave = (): void => void socket.destroy(new Error('nobody waits for this connection'))
    signal.addEventListener('abort', leave)
  }

  return () => {
    let underWay: AbortController | undefined
    return {
      connect(asked, callback) {
        const { signal } = (underWay = new AbortController())
        const done: buildConnector.Callback = (...answer) => {
          underWay = undefined
          callback(...answer)
        }
        // Node resolves no literal address, and so would never ask the guard about one.
        if (isIP(asked.hostname) === 0) return begin(signal, asked, done)
        resolve(asked.hostname, signal, error => {
          if (error !== null) done(error, null)
          else if (signal.aborted) done(new Error('nobody waits for this connection'), null)
          else begin(signal, asked, done)
        })
      },
      get isUnderWay() {
        return underWay !== undefined
      },
      giveUp: () => underWay?.abort(),
    }
  }
}
