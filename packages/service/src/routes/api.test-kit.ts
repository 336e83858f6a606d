import { seededRandom, virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import type { FastifyInstance } from 'fastify'
import { request as send, Agent, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { KeyRing, SigningSecrets } from '../access/key-ring.ts'
import { openMemoryBodies } from '../bodies/memory/memory-bodies.ts'
import { Backlog } from '../intake/backlog.ts'
import { seedDefaultPolicy } from '../policies/default-policy.ts'
import { PolicyBook } from '../policies/policy-book.ts'
import { StandingOrders } from '../steering/standing-orders.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { Store } from '../stores/store.ts'
import { settle, type AttemptResult } from '../task/settle.ts'
import { laneKey, partitionOf, queueKey } from '../task/lane.ts'
import type { LaneView } from '../task/lane-view.ts'
import type { Live } from '../telemetry/events.ts'
import { SeriesBook } from '../telemetry/series/series-book.ts'
import { EventStream, type StreamLimits } from '../telemetry/stream/event-stream.ts'
import { createApi } from './api.ts'
import { DEFAULT_LIMITS, type ApiLimits, type ApiContext } from './context.ts'

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of an answer.
  readonly json: any
}

export interface Sent {
  readonly headers?: { readonly [name: string]: string }
  /** JSON, unless it is text or bytes. */
  readonly body?: unknown
}

export interface Served {
  readonly api: FastifyInstance
  readonly port: number
  readonly store: Store
  readonly clock: VirtualClock
  readonly live: Live
  readonly views: Map<string, LaneView>
  readonly cut: string[]
  readonly log: string[]
  /** Two beats: after them the backlog counts what the store has, and nothing else. */
  readonly beat: () => Promise<void>
  readonly ask: (method: string, path: string, sent?: Sent) => Promise<Answered>
  /** Bytes on a bare connection, and all that came back until its end. */
  readonly raw: (text: string) => Promise<string>
  readonly close: () => Promise<void>
}

export interface ServeOptions extends Partial<Omit<ApiContext, 'limits' | 'clock'>> {
  readonly clock?: VirtualClock
  readonly limits?: Partial<ApiLimits>
  readonly streamLimits?: Partial<StreamLimits>
}

/** The API on a real socket over a store in memory; ended with the test. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const served = await startApi(options)
  onTestFinished(() => served.close())
  return served
}

/** The same for several tests, which end it themselves. */
export async function startApi(asked: ServeOptions = {}): Promise<Served> {
  const { limits, streamLimits, clock = virtualClock(), ...options } = asked
  const store = options.store ?? openMemoryStore({ clock })
  await seedDefaultPolicy(store, 'default')
  const [views, cut, log] = [new Map<string, LaneView>(), [] as string[], [] as string[]]
  const now = (): number => clock.now()
  const stream = new EventStream({ clock, now, instance: '5f0c7a1b', ...(streamLimits && { limits: streamLimits }) })
  const live = { stream, series: new SeriesBook({ now }) }
  const keys = new KeyRing({ store, now: () => clock.now() })
  await keys.load()
  const orders = new StandingOrders({ store, read: async call => ({ value: await call() }) })
  const backlog = new Backlog({ ...DEFAULT_LIMITS, ...limits }.backlog)
  const beat = async (): Promise<void> => {
    for (let beats = 0; beats < 2; beats++)
      backlog.heard((await store.beat({ instance: 'test', largeFrom: backlog.largeFrom })).waiting)
  }
  const api = createApi({
    store,
    backlog,
    bodies: openMemoryBodies({ clock }),
    orders,
    dispatching: { view: lane => views.get(lane), cut: taskId => void cut.push(taskId) },
    wakeReplays: () => {},
    policies: new PolicyBook(store, clock),
    clock,
    wallNow: () => clock.now(),
    random: seededRandom(1),
    limits: { ...DEFAULT_LIMITS, ...limits },
    keys,
    secrets: new SigningSecrets(store, () => clock.now()),
    allow: { hosts: [] },
    live,
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'retry_tasks{status="PENDING"} 0\n' }),
    health: async () => ({ problems: [], clockSkewMs: 0 }),
    version: '0.0.0',
    instance: 'one-start',
    log: { level: 'debug', stream: { write: line => void log.push(line) } },
    ...options,
  })
  const agent = new Agent({ keepAlive: true })
  await api.listen({ host: '127.0.0.1', port: 0 })
  const { port } = api.server.address() as { port: number }
  return {
    api,
    port,
    store,
    clock,
    live,
    views,
    cut,
    log,
    beat,
    ask: (method, path, sent = {}) => ask({ agent, port, method, path, ...sent }),
    raw: text => raw(port, text),
    close: async () => {
      agent.destroy()
      await api.close()
    },
  }
}

interface Ask extends Sent {
  readonly agent: Agent
  readonly port: number
  readonly method: string
  readonly path: string
}

function ask({ agent, port, method, path, headers = {}, body }: Ask): Promise<Answered> {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const length = bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) }
  return new Promise((resolve, reject) => {
    const request = send(
      { agent, host: '127.0.0.1', port, method, path, headers: { ...type, ...length, ...headers } },
      response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('error', reject)
        // It has no end: its beginning is enough.
        if (response.headers['content-type']?.startsWith('text/event-stream'))
          response.once('data', () => {
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              text: String(chunks[0]),
              json: undefined,
            })
            response.destroy()
          })
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = response.headers['content-type']?.includes('json') && text !== ''
          const json: unknown = isJson ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode!, headers: response.headers, text, json })
        })
      },
    )
    request.on('error', reject)
    request.end(bytes)
  })
}

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(text))
    let answered = ''
    socket.on('data', chunk => void (answered += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(answered))
  })
}

export const TASK = { targetUrl: 'https://api.example/charge', method: 'POST', body: '{"amount":100}' } as const

/** The codes and the places of a refusal, for one look. */
export function refusalOf({ status, json }: Answered): unknown {
  const problems = (json.problems ?? []) as { at: string; say: string }[]
  return [status, json.code, ...problems.map(({ at, say }) => `${at} ${say}`)]
}

/** Makes the one attempt that is due of a task's destination, as a dispatcher would. */
export async function attempt(
  { store, clock }: Served,
  taskId: string,
  result: Partial<AttemptResult> & Pick<AttemptResult, 'outcome'>,
): Promise<void> {
  const task = await claim({ store }, taskId)
  const document = await new PolicyBook(store, clock).find(task)
  if (document === 'missing') throw new Error(`the policy of ${taskId} is missing`)
  const moment = { now: clock.now(), roll: 0, expectedCallMs: 0 }
  await store.settle([settle(task, document, { startedAt: clock.now(), durationMs: 5, ...result }, moment)])
}

/** Takes the task under way. */
export async function claim({ store }: Pick<Served, 'store'>, taskId: string) {
  const [task] = await store.get([taskId])
  if (task?.state.status !== 'PENDING') throw new Error(`${taskId} is ${task?.state.status}`)
  const lane = laneKey(task)
  const partition = partitionOf(lane)
  const { stewards } = await store.beat({ instance: 'test', largeFrom: { tasks: 1_000, lanes: 1_000 } })
  const steward = `steward-${partition}-${stewards.length}`
  const from = stewards.find(each => each.partition === partition)?.token ?? null
  if (from === null) await store.take({ partition, instance: 'test', token: steward, from })
  const ask = { lane, queue: queueKey(task.state.queue), count: 1, limit: 100 }
  const token = `claim-${taskId}-${task.version}`
  const { answers } = await store.claim([{ partition, steward: from ?? steward, token, asks: [ask] }])
  const tasks = answers.flatMap(answer => (answer.kind === 'claimed' ? answer.tasks : []))
  const found = tasks.find(each => each.taskId === taskId)
  if (found === undefined) throw new Error(`${taskId} is not due`)
  return found
}
