import { execFileSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { LOOPBACK_RULES } from '../allow-target.ts'
import type { Delivery, Target, TargetAnswer } from '../target.ts'
import { createHttpTarget, type HttpTargetOptions } from './http-target.ts'

/** A request as it came over the wire. */
export interface RawRequest {
  readonly head: string
  readonly body: Buffer
  readonly socket: Socket
}

/** What a server does with one request; the first is 1. */
export type Play = (request: RawRequest, number: number) => void

export interface RawServer {
  readonly port: number
  readonly url: string
  readonly requests: readonly RawRequest[]
  /** Sockets that are open now, and how many there ever were. */
  readonly sockets: ReadonlySet<Socket>
  readonly connections: number
  /** The next of these: somebody connected, a request is whole, a socket has closed. */
  next(event: 'connection' | 'request' | 'close'): Promise<unknown>
}

export interface RawServerOptions {
  readonly tls?: Certificate
  readonly host?: string
  /** Before a byte was read. */
  readonly onConnection?: (socket: Socket) => void
}

/** A server without manners: it reads requests, and does with the bare socket what it is told. */
export async function rawServer(play: Play, options: RawServerOptions = {}): Promise<RawServer> {
  const { tls, host = '127.0.0.1', onConnection } = options
  const events = new EventEmitter()
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const serve = (socket: Socket): void =>
    readRequests(socket, request => {
      const number = requests.push(request)
      play(request, number)
      events.emit('request')
    })
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  // On the plain socket also for TLS: it is there before, and whether or not, a handshake succeeds.
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      events.emit('close')
    })
    onConnection?.(socket)
    events.emit('connection')
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => void server.listen(0, host, resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    sockets,
    get connections() {
      return connections
    },
    next: event => once(events, event),
  }
}

function readRequests(socket: Socket, onRequest: (request: RawRequest) => void): void {
  let read = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    read = Buffer.concat([read, chunk])
    for (let end = read.indexOf('\r\n\r\n'); end >= 0; end = read.indexOf('\r\n\r\n')) {
      const head = read.subarray(0, end).toString('latin1')
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      if (read.byteLength < end + 4 + length) return
      const body = Buffer.from(read.subarray(end + 4, end + 4 + length))
      read = read.subarray(end + 4 + length)
      onRequest({ head, body, socket })
    }
  })
}

/** Answers and keeps the connection. */
export function answer(body = '', status = '200 OK', headers = ''): Play {
  return ({ socket }) =>
    socket.write(`HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Writes these bytes and leaves the connection as it is. */
export function write(text: string | Buffer): Play {
  return ({ socket }) => void socket.write(text)
}

/** Reads, and says nothing. */
export const silence: Play = () => {}

/** A target that may call this machine, closed when the test is over. */
export function localTarget(options: HttpTargetOptions = {}): Target {
  const target = createHttpTarget({ rules: LOOPBACK_RULES, ...options })
  onTestFinished(() => target.close())
  return target
}

export interface SendOptions extends Partial<Delivery['request']> {
  /** What the attempt says of itself. */
  readonly own?: Delivery['headers']
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** Sends a POST of no bytes, unless told. Its time-out is far away: a test that waits for one moves a virtual clock. */
export function send(target: Target, targetUrl: string, options: SendOptions = {}): Promise<TargetAnswer> {
  const { method = 'POST', body = null, headers = {}, own = {}, timeoutMs = 60_000 } = options
  const { signal } = options
  const sending = target.send({ request: { targetUrl, method, headers, body }, headers: own, timeoutMs })
  const cut = (): void => sending.cut(signal?.reason)
  if (signal?.aborted) cut()
  else signal?.addEventListener('abort', cut)
  return sending.answer.finally(() => signal?.removeEventListener('abort', cut))
}

export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Whether certificates can be made on this machine. */
export const hasOpenssl: boolean = succeeds(() => execFileSync('openssl', ['version']))

/** A certificate that nobody signed but itself, for this name. */
export function selfSigned(name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    const names = `subjectAltName=DNS:${name}`
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const files = ['-keyout', key, '-out', cert]
    execFileSync(
      'openssl',
      ['req', '-x509', ...curve, ...files, '-subj', `/CN=${name}`, '-addext', names, '-days', '2'],
      {
        stdio: 'ignore',
      },
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function succeeds(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}
