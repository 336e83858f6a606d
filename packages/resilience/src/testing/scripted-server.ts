import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { readScript, type RecordedRequest, type Scene, type ScriptEntry, type TakeScene } from './script.ts'
import { scriptedFetch, type Fetch } from './scripted-fetch.ts'

export interface ScriptedServerOptions {
  /** What delays are waited on, and `at` is read from: the machine's unless told. */
  readonly clock?: Clock
  /** Answers every request after the script; else its last entry does. */
  readonly whenDone?: ScriptEntry
}

export interface ScriptedServer {
  /** All requests so far, whichever way they came, in the order in which they took their answers. */
  readonly requests: readonly RecordedRequest[]
  /** The server without a network: takes the place of `fetch`, also in browsers. */
  readonly fetch: Fetch
  /** The same script behind a real socket of 127.0.0.1, on a free port. Node only. */
  readonly listen: () => Promise<ListeningServer>
}

export interface ListeningServer {
  /** Without a slash at its end. */
  readonly url: string
  /** Ends every connection, answered or not. */
  readonly close: () => Promise<void>
}

/** A server that does what its script says, request by request, and remembers what it was asked. */
export function scriptedServer(script: readonly ScriptEntry[], options: ScriptedServerOptions = {}): ScriptedServer {
  const { clock = systemClock, whenDone } = options
  const scenes = readScript(script, whenDone)
  const requests: RecordedRequest[] = []
  const take: TakeScene = request => {
    requests.push({ ...request, at: clock.monotonic() })
    return scenes[Math.min(requests.length, scenes.length) - 1]!
  }
  return { requests, fetch: scriptedFetch(take, clock), listen: () => listen(take, clock) }
}

async function listen(take: TakeScene, clock: Clock): Promise<ListeningServer> {
  // Not as a literal: a bundler for browsers would look for the module, and a compiler without Node's types too.
  const specifier: string = 'node:http'
  const http = (await import(/* @vite-ignore */ specifier)) as NodeHttp
  const server = http.createServer((request, response) => void serve(request, response, take, clock))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const close = (): Promise<void> =>
    new Promise(resolve => {
      // A server that is closed already says so with an error; closed is what was wanted.
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${server.address().port}`, close }
}

async function serve(request: NodeRequest, response: NodeResponse, take: TakeScene, clock: Clock): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const body = await bodyOf(request)
    const scene = take({ method: request.method, path: request.url, headers: headersOf(request), body })
    if (scene.delayMs > 0) await clock.sleep(scene.delayMs, gone.signal)
    play(scene, response)
  } catch {
    // Whoever asked has hung up, or close() did: there is nobody left to answer.
    request.socket.destroy()
  }
}

function play({ kind, answer }: Scene, response: NodeResponse): void {
  if (answer !== undefined) response.writeHead(answer.status, answer.headers)
  if (kind === 'answer') return response.end(answer.body)
  if (answer !== undefined) response.flushHeaders()
  if (answer?.body !== undefined) response.write(answer.body)
  if (kind === 'hang') return
  // A reset may overtake what was sent before it; a plain end in the middle of an answer is just as much a loss.
  if (answer === undefined) response.socket.resetAndDestroy()
  else response.socket.end()
}

async function bodyOf(request: NodeRequest): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of request) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

function headersOf({ headers }: NodeRequest): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** As much of `node:http` as is needed here: the library compiles without Node's types. */
interface NodeHttp {
  createServer(listener: (request: NodeRequest, response: NodeResponse) => void): NodeServer
}

interface NodeServer {
  listen(port: number, host: string, listening: () => void): void
  address(): { readonly port: number }
  once(event: 'error', listener: (error: unknown) => void): void
  close(closed: () => void): void
  closeAllConnections(): void
}

interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | readonly string[] }
  readonly socket: NodeSocket
}

interface NodeResponse {
  readonly socket: NodeSocket
  writeHead(status: number, headers: { readonly [name: string]: string }): void
  flushHeaders(): void
  write(body: string | Uint8Array): void
  end(body: string | Uint8Array | undefined): void
  once(event: 'close', listener: () => void): void
}

interface NodeSocket {
  destroy(): void
  resetAndDestroy(): void
  end(): void
}
