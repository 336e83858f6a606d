import { seededRandom } from '@secondwind/resilience/testing'
import type { Random } from '@secondwind/resilience'
import { replayed } from '../../task/accept.ts'
import { partitionOf } from '../../task/lane.ts'
import { fateIn, WELL, type Fate, type Weather } from './faulty-store.test-kit.ts'
import type { SimulatedProcess } from './instance.test-kit.ts'
import { Ledger, type LedgerOptions } from './ledger.test-kit.ts'
import { pick, type Behaviour } from './scripted-target.test-kit.ts'
import { neighbourOf, World, type Accepted } from './world.test-kit.ts'

/** Until then anything may happen; from then on nothing bad does. */
const CALM_AT = 30_000

/** Long enough for every deadline, every hold and every move. */
const LAST_TASK_ENDS_WITHIN = 300_000

const CALM: Weather = { slow: 0, lost: 0, failed: 0 }
const WEATHERS: readonly Weather[] = [
  CALM,
  { slow: 0.05, lost: 0.02, failed: 0.02 },
  { slow: 0.1, lost: 0.08, failed: 0.05 },
]

const BEHAVIOURS: readonly Behaviour[] = [
  { kind: 'answers', status: 200, ms: 30 },
  { kind: 'answers', status: 200, ms: 900 },
  { kind: 'answers', status: 503, ms: 10 },
  { kind: 'answers', status: 429, ms: 5, retryAfterS: 2 },
  { kind: 'answers', status: 404, ms: 5 },
  { kind: 'refuses', ms: 2 },
  { kind: 'hangs', ms: 20_000 },
]

/** One random history, wholly told by its seed; throws where a promise is broken. */
export async function storm(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const limit = 1 + Math.floor(random() * 5)
  const rate = pick(
    [
      { perSecond: 1_000, burst: 1_000 },
      { perSecond: 2, burst: 3 },
    ] as const,
    random,
  )
  const minRetries = pick([100, 2], random)
  const weather = pick(WEATHERS, random)
  const disasters = disastersOf(random)
  const someLanes = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, n) => ({
    tenant: pick(['acme', 'globex'], random),
    destination: `https://api-${n}.example`,
  }))
  const lanes = [...someLanes, neighbourOf(someLanes[0]!)]
  const schedules = new Map(lanes.map(({ destination }) => [destination, scheduleOf(random)]))
  const busy = new Set(lanes.map(({ tenant, destination }) => partitionOf(`${tenant} ${destination}`)))
  const fates = seededRandom(seed + 1)
  let outageEndsAt = 0

  const fateOf = (_: SimulatedProcess, verb: string, ask: unknown): Fate => {
    const { partition } = ask as { partition?: number }
    // Most partitions are empty: what happens to them says nothing, and takes time.
    if (world.clock.monotonic() >= CALM_AT || (partition !== undefined && !busy.has(partition))) return WELL
    if (world.clock.monotonic() >= outageEndsAt) return fateIn(weather, fates)
    const isApplied = verb !== 'beat' && fates() < 0.3
    return { beforeMs: 1, isApplied, afterMs: 1, answer: fates() < 0.7 ? 'error' : 'silence' }
  }

  const world: World = new World({
    seed,
    slots: 2 + Math.floor(random() * 8),
    lanes: {
      limit,
      rateLimit: rate,
      budget: { kind: 'ratio', ratio: 1, windowMs: 10_000, minRetries },
      breaker: { window: 'consecutive', consecutiveFailures: 4, openMs: 2_000, maxOpenMs: 10_000 },
    },
    listAgainMs: random() < 0.1 ? 1_000 : 30_000,
    fateOf,
    hintDelayMs: () => (weather !== CALM && fates() < 0.2 ? undefined : Math.floor(fates() * 10)),
    behaviourOf: (destination, at) =>
      at >= CALM_AT ? BEHAVIOURS[0]! : schedules.get(destination)![Math.floor(at / 5_000)]!,
    onRequest: request => ledger.onRequest(request),
    events: { attemptEnded: event => ledger.onAttempt(event) },
  })
  const instances = 1 + Math.floor(random() * 2)
  const ledger = new Ledger(world, { limit, rate, minRetries, ...kindnessOf(weather, disasters, instances) })

  for (let n = 0; n < instances; n++) world.start()
  for (let at = 0; at < CALM_AT; at += 1_000) {
    for (let n = Math.floor(random() * 4); n > 0; n--)
      await world.enqueue({
        ...pick(lanes, random),
        ...(random() < 0.3 && { delayMs: Math.floor(random() * 5_000) }),
        policy: {
          maxAttempts: 2 + Math.floor(random() * 5),
          initialDelayMs: 200,
          maxDelayMs: 4_000,
          totalBudgetMs: 20_000 + Math.floor(random() * 60_000),
          attemptTimeoutMs: 1_000 + Math.floor(random() * 3_000),
        },
      })
    // In the middle of things: what was handed over just now is being claimed, sent, settled.
    const busyMs = Math.floor(random() * 40)
    await world.clock.advance(busyMs)
    for (const disaster of disasters)
      if (disaster.at === at) {
        if (disaster.what === 'outage') outageEndsAt = at + disaster.ms
        else strike(world, disaster, random)
      }
    await operate(world, random)
    await world.clock.advance(1_000 - busyMs)
    await ledger.look()
  }
  if (world.running.length === 0) world.start()
  await world.finish(LAST_TASK_ENDS_WITHIN)
  await ledger.close()
  await leave(world)
}

interface Disaster {
  readonly at: number
  readonly what: 'kill' | 'freeze' | 'suspend' | 'wall' | 'store-clock' | 'outage' | 'stop' | 'join'
  readonly ms: number
}

const DISASTERS: readonly Disaster['what'][] = [
  'kill',
  'freeze',
  'suspend',
  'wall',
  'store-clock',
  'outage',
  'stop',
  'join',
]

function disastersOf(random: Random): Disaster[] {
  return Array.from({ length: Math.floor(random() * 5) }, () => {
    const at = 1_000 * Math.floor((random() * CALM_AT) / 1_000)
    return { at, what: pick(DISASTERS, random), ms: Math.min(CALM_AT - at, 500 + Math.floor(random() * 15_000)) }
  })
}

type Kindness = Pick<LedgerOptions, 'isKind' | 'isCalm' | 'isAlone' | 'areClocksRight'>

/** What can be expected in such a world. */
function kindnessOf(weather: Weather, disasters: readonly Disaster[], instances: number): Kindness {
  const areOnly = (...what: readonly string[]): boolean => disasters.every(disaster => what.includes(disaster.what))
  // Nobody takes over what it has not yet been able to write.
  const isAlone = instances === 1 && areOnly('wall')
  return {
    isAlone,
    isKind: isAlone || (weather === CALM && areOnly('wall', 'stop', 'join')),
    isCalm: weather === CALM && areOnly(),
    areClocksRight: areOnly('kill', 'freeze', 'outage', 'stop', 'join', 'suspend'),
  }
}

function scheduleOf(random: Random): Behaviour[] {
  return Array.from({ length: CALM_AT / 5_000 }, () => pick(BEHAVIOURS, random))
}

function strike(world: World, { what, ms }: Disaster, random: Random): void {
  const victim = pick(world.running, random)
  switch (what) {
    case 'kill':
      victim?.kill()
      return void world.clock.sleep(ms).then(() => world.start())
    case 'freeze':
      victim?.freeze()
      return void world.clock.sleep(ms).then(() => victim?.thaw())
    case 'suspend':
      victim?.freeze()
      return void world.clock.sleep(ms).then(() => victim?.wake(ms))
    case 'wall':
      return victim?.jumpWall(random() < 0.5 ? ms * 240 : -ms * 240)
    case 'store-clock':
      world.storeOffsetMs += random() < 0.5 ? ms : -ms / 3
      return
    case 'stop':
      void victim?.dispatcher.stop({ graceMs: 500 })
      return void world.clock.sleep(ms).then(() => world.start())
    case 'join':
      if (world.running.length < 3) world.start()
      return
    case 'outage':
  }
}

/** What people do meanwhile. */
async function operate(world: World, random: Random): Promise<void> {
  const task = pick(world.accepted, random)
  if (task === undefined || random() < 0.8) return
  if (random() < 0.4) {
    await world.store.cancel(task.taskId)
    for (const { dispatcher } of world.running) dispatcher.cut(task.taskId)
  } else if (random() < 0.5) await world.store.attemptNow(task.taskId)
  else await replayIfDead(world, task)
}

async function replayIfDead(world: World, { taskId, policy }: Accepted): Promise<void> {
  const task = (await world.store.get(taskId))!
  const { now } = await world.store.health()
  const { generation } = task.progress
  if (task.state.status === 'EXHAUSTED')
    await world.store.replay({ taskId, generation, progress: replayed(task, policy, now) })
}

/** Everybody goes home, and leaves nothing behind that would ever ring. */
async function leave(world: World): Promise<void> {
  const stopped = Promise.all(world.running.map(({ dispatcher }) => dispatcher.stop({ graceMs: 1_000 })))
  await world.clock.advance(40_000)
  await stopped
  if (world.clock.pending > 0) throw new Error(`${world.clock.pending} alarms are left`)
}
