/** The service, put together: a store, a dispatcher, a target, an API, and what can be seen of them. */
import { systemClock, systemRandom, type Clock } from '@secondwind/resilience'
import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { DEFAULT_TENANT } from './access/caller.ts'
import { KeyRing, SigningSecrets } from './access/key-ring.ts'
import { listenFailure, refuseEarly, refuseTooOpen } from './before-opening.ts'
import { CallbackRunner } from './callbacks/callback-runner.ts'
import type { ServiceConfig } from './config.ts'
import { mostDescriptors, targetSocketsWithin } from './descriptors.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import { Backlog } from './intake/backlog.ts'
import { keptBy, type Kept } from './kept.ts'
import { announce, diskFloorOf, formatOf, openBodies, openStore, sayStore } from './open-stores.ts'
import { seedDefaultPolicy } from './policies/default-policy.ts'
import { PolicyBook } from './policies/policy-book.ts'
import { addPracticeEndpoints } from './practice/practice.ts'
import { ReplayRunner } from './replays/replay-runner.ts'
import { createApi } from './routes/api.ts'
import type { Health } from './routes/context.ts'
import { limitsOf } from './limits.ts'
import { isLoopback } from './loopback.ts'
import { saySkew } from './stores/store-clock.ts'
import type { Store } from './stores/store.ts'
import { LOOPBACK_RULES, parseAllowTarget } from './targets/allow-target.ts'
import { checkTarget } from './targets/guard.ts'
import { createHttpTarget } from './targets/http/http-target.ts'
import { ControlTidings } from './telemetry/control-tidings.ts'
import { liveEvents, tellAll, type DispatchEvents, type OperatorEvents } from './telemetry/events.ts'
import { logEvents } from './telemetry/log.ts'
import { watchLoopLag } from './telemetry/loop-lag.ts'
import { createServiceMetrics } from './telemetry/metrics.ts'
import { readService } from './telemetry/read-service.ts'
import { ReplayTidings } from './telemetry/replay-tidings.ts'
import { Sampling } from './telemetry/sampling.ts'
import { SeriesBook } from './telemetry/series/series-book.ts'
import { EventStream } from './telemetry/stream/event-stream.ts'
import { keepBodiesTidy } from './upkeep/body-sweep.ts'
import type { DiskFloor } from './upkeep/disk-floor.ts'
import { keepTidy } from './upkeep/retention.ts'

export interface ServiceOptions {
  readonly config: ServiceConfig
  /** Practice endpoints, and targets on this machine. */
  readonly isDevelopment: boolean
  /** Where log lines go, one JSON document each. */
  readonly log: (line: string) => void
  /** How many of them could not be written so far, where somebody counts. */
  readonly lostLogLines?: () => number
  readonly logLevel: 'info' | 'error'
  /** Hears what is done, besides metrics and log. */
  readonly events?: DispatchEvents & OperatorEvents
  readonly clock?: Clock
}

export interface Service {
  readonly url: string
  /** The address that it listens on, where others than this machine can reach it. */
  readonly openAt?: string
  /** Where tasks are kept, in words. */
  readonly store: string
  readonly version: string
  /** Whether requests need a key, as of now. */
  readonly hasKeys: boolean
  /** No new attempts, those under way are finished or cut off, everything is closed. */
  stop(): Promise<void>
  /** What became of what it kept, once it has stopped. */
  readonly kept: Promise<Kept>
}

/** A store that gave no answer is asked again for keys and secrets. */
const RELOAD_MS = 1_000

/** Requests under way have so long to end. */
const GRACE_MS = 10_000

export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, isDevelopment, log, logLevel, clock = systemClock } = options
  const limits = limitsOf(config)
  const instance = randomUUID()
  await refuseEarly(config, isDevelopment)
  const store = await openStore(config)
  const floor = diskFloorOf(config, clock)
  const bodies = await openBodies(config, store, floor)
  await seedDefaultPolicy(store, DEFAULT_TENANT)
  const now = (): number => dispatcher.now()
  const policies = new PolicyBook(store, clock)
  const backlog = new Backlog(limits.backlog, lane => dispatcher.isServing(lane))
  // The first task is judged by what waits already.
  backlog.heard((await store.beat({ instance, largeFrom: backlog.largeFrom })).waiting)
  const keys = new KeyRing({ store, now, ...(config.adminKey !== undefined && { adminKey: config.adminKey }) })
  const secrets = new SigningSecrets(store, now)
  const load = (): Promise<unknown> => Promise.all([keys.load(), secrets.load()])
  await load()
  try {
    refuseTooOpen(config, { isDevelopment, hasKeys: keys.isInForce })
  } catch (error) {
    await store.close()
    throw error
  }
  const rules = [
    ...config.allowTarget.flatMap(text => parseAllowTarget(text).rule ?? []),
    ...(isDevelopment ? LOOPBACK_RULES : []),
  ]
  const { concurrency } = config
  const sockets = targetSocketsWithin(mostDescriptors(), { concurrency, connections: limits.connections })
  const target = createHttpTarget({ rules, connections: concurrency, sockets })
  const lag = watchLoopLag(clock)
  const metrics = createServiceMetrics({
    read: () => readService({ store, backlog, dispatcher, lag }),
    ...(options.lostLogLines && { lostLogLines: options.lostLogLines }),
  })
  const live = {
    stream: new EventStream({ clock, now, instance: instance.slice(0, 8), limits }),
    series: new SeriesBook({ now }),
  }
  const listeners: DispatchEvents[] = [metrics.events, liveEvents(live), ...(options.events ? [options.events] : [])]
  const dispatcher = createDispatcher({
    store,
    policies,
    largeFrom: backlog.largeFrom,
    onWaiting: waiting => backlog.heard(waiting),
    target,
    bodies,
    clock,
    random: systemRandom,
    newToken: randomUUID,
    instance,
    slots: config.concurrency,
    signingSecretsOf: ({ tenant, destination }) => secrets.of(tenant, destination),
    events: tellAll(listeners),
  })
  const callbacks = new CallbackRunner({
    store,
    policies,
    backlog,
    partitions: () => dispatcher.partitions(),
    clock,
    now,
    random: systemRandom,
    onProblem: error => api.log.warn({ error }, 'a callback could not be made; it is tried again'),
  })
  const replayTidings = new ReplayTidings(live.stream, now)
  const replays = new ReplayRunner({
    store,
    clock,
    now,
    serves: partition => dispatcher.serves(partition),
    policies,
    backlog,
    onMoved: count => metrics.replaysMoved(count),
    onChanged: (stored, counts) => replayTidings.changed(stored, counts),
    onProblem: error => api.log.warn({ error }, 'a replay could not go on; it is tried again'),
  })
  const upkeep = new AbortController()
  /** Whoever was revoked must not stay because the store gave no answer just then. */
  const reload = (): void =>
    void load().catch(() => clock.sleep(RELOAD_MS, upkeep.signal).then(reload, () => undefined))
  dispatcher.orders.onRead(reload)
  const api = createApi({
    store,
    policies,
    backlog,
    bodies,
    ...(floor && { floor }),
    dispatching: dispatcher,
    wakeReplays: tenant => replays.wake(tenant),
    orders: dispatcher.orders,
    clock: clockWith(clock, now),
    wallNow: () => clock.now(),
    random: systemRandom,
    limits,
    checkTarget: targetUrl => checkTarget(targetUrl, rules),
    keys,
    secrets,
    isStillAllowed: async caller => keys.isStillGood(caller),
    allow: { hosts: [] },
    live,
    ...(options.events && { operatorEvents: options.events }),
    metrics: () => metrics.scrape(),
    health: () => healthOf(store, floor),
    version: VERSION,
    format: formatOf(config),
    instance,
    log: { level: logLevel, stream: { write: log } },
    ...(isDevelopment && { practice: scope => addPracticeEndpoints(scope, { clock }) }),
  })
  listeners.push(logEvents({ log: api.log, clock, signal: upkeep.signal }))
  api.log.info({ store: sayStore(config) }, 'the store is open')
  const skew = saySkew((await store.health()).clockSkewMs)
  if (skew !== undefined) api.log.warn({ code: 'clock-skew' }, skew)

  const controlTidings = new ControlTidings({ orders: dispatcher.orders, stream: live.stream, now })
  dispatcher.orders.onRead(() => controlTidings.look())
  const onLook = (): void => controlTidings.look()
  const sampling = new Sampling({ ...live, clock, now, store, dispatching: dispatcher, onLook })
  const closeAll = async (): Promise<void> => {
    upkeep.abort()
    sampling.stop()
    lag.stop()
    await target.close()
    await store.close()
  }
  // What was ordered before is in force for the first request.
  await dispatcher.orders.refresh()
  const url = await listen(api, config, closeAll)
  announce(config, { url, instance })
  dispatcher.start()
  sampling.start()
  void replays.run(upkeep.signal)
  void callbacks.run(upkeep.signal)
  const tidying = {
    store,
    clock,
    signal: upkeep.signal,
    onProblem: (error: unknown) => api.log.warn({ error }, 'sweeping failed'),
  }
  void keepTidy(tidying)
  void keepBodiesTidy({ ...tidying, bodies })
  let tellKept!: (kept: Kept) => void
  const kept = new Promise<Kept>(resolve => (tellKept = resolve))
  const stop = async (): Promise<void> => {
    // At once: a client that has sent half a request keeps the API open, and must not keep attempts going.
    const stopped = dispatcher.stop({ graceMs: GRACE_MS })
    upkeep.abort()
    await api.close()
    await stopped
    try {
      tellKept(await keptBy(store))
    } finally {
      await closeAll()
    }
  }
  let stopping: Promise<void> | undefined
  return {
    url,
    ...(!isLoopback(config.host) && { openAt: config.host }),
    store: sayStore(config),
    version: VERSION,
    get hasKeys() {
      return keys.isInForce
    },
    stop() {
      stopping ??= stop()
      return stopping
    },
    kept,
  }
}

async function listen(api: FastifyInstance, config: ServiceConfig, giveUp: () => Promise<void>): Promise<string> {
  const { host, port } = config
  try {
    // A name is its first address. Of localhost the framework would listen on the others, too, each with a server of its
    // own, which none of the rules for connections is attached to.
    const { address } = await lookup(host)
    // Of an address that is open to others it names each that this machine has; what was asked for stands beside it.
    return await api.listen({ host: address, port, listenTextResolver: each => `listening on ${host}: ${each}` })
  } catch (error) {
    await api.close()
    await giveUp()
    throw listenFailure(error, config)
  }
}

async function healthOf(store: Pick<Store, 'health'>, floor: DiskFloor | undefined): Promise<Health> {
  try {
    const { problem = await floor?.problem(), clockSkewMs } = await store.health()
    return { problems: problem === undefined ? [] : [problem], clockSkewMs }
  } catch (error) {
    return { problems: [(error as Error).message], clockSkewMs: 0 }
  }
}

/** The API dates tasks by the store's clock, which alone says when they are due. */
function clockWith(clock: Clock, now: () => number): Clock {
  return {
    now,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    arm: alarm => clock.arm(alarm),
    disarm: alarm => clock.disarm(alarm),
  }
}

const VERSION = readVersion()

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
