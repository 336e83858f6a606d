import type { Random } from '@secondwind/resilience'
import { seededRandom } from '@secondwind/resilience/testing'
import { replayed } from '../../task/accept.ts'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { fateIn, partitionsOf, WELL, type Fate } from './faulty-store.test-kit.ts'
import { Ledger } from './ledger.test-kit.ts'
import { Operators } from './operators.test-kit.ts'
import { pick, type Behaviour } from './scripted-target.test-kit.ts'
import { BEHAVIOUR_MS, CALM_AT, isCalm, kindnessOf, planOf, WELL_BEHAVED } from './storm-plan.test-kit.ts'
import type { Disaster, StormPlan } from './storm-plan.test-kit.ts'
import { World, type Accepted, type Order } from './world.test-kit.ts'

const MOST_BUSY_MS = 40

/** Small, so that it is used up in most histories. */
const CREDIT = { most: { first: 2, retry: 2, late: 1 }, probeMinMs: 1_000, probeMaxMs: 2_000 } as const

/** Long enough for every deadline, every hold and every move. */
const LAST_TASK_ENDS_WITHIN = 300_000

/** One random history, wholly told by its seed; throws where a promise is broken. */
export async function storm(seed: number): Promise<void> {
  const plan = planOf(seed)
  const random = seededRandom(seed + 1)
  const { world, ledger, beginOutage } = worldOf(plan, seed)
  const operators = new Operators({ world, lanes: plan.lanes, limit: plan.limit, random: seededRandom(seed + 3) })
  ledger.operators = operators
  const [upload] = await Promise.all(plan.lanes.map(({ tenant }) => world.upload('a large body', tenant)))
  const { bodyRef, sizeBytes } = upload!
  const storedBody = { bodyRef, sizeBytes }
  for (let n = 0; n < plan.instances; n++) world.start()
  for (let at = 0; at < CALM_AT; at += 1_000) {
    for (let n = Math.floor(random() * 4); n > 0; n--)
      await world.enqueue({ ...orderOf(plan, random), ...(random() < 0.2 && { storedBody }) })
    // In the middle of things: what was handed over just now is being claimed, sent, settled.
    const busyMs = Math.floor(random() * MOST_BUSY_MS)
    await world.clock.advance(busyMs)
    for (const disaster of plan.disasters)
      if (disaster.at === at) {
        if (disaster.what === 'outage') beginOutage(disaster.ms)
        else strike(world, disaster, random)
      }
    await operate(world, random)
    await operators.act()
    await world.clock.advance(1_000 - busyMs)
    await ledger.look()
  }
  // A process that was killed last is started again before the others are stopped, even if nothing is left to do.
  await world.clock.advance(MOST_BUSY_MS)
  await operators.leave()
  if (world.running.length === 0) world.start()
  await world.finish(LAST_TASK_ENDS_WITHIN)
  await ledger.close()
  await leave(world)
}

function worldOf(plan: StormPlan, seed: number) {
  const { limit, rate, minRetries, slots, listAgainMs, weather } = plan
  const random = seededRandom(seed + 2)
  const busy = new Set(plan.lanes.map(lane => partitionOf(laneKey(lane))))
  let outageEndsAt = 0

  const fateOf = (_: unknown, verb: string, ask: unknown): Fate => {
    const partitions = partitionsOf(ask)
    const at = world.clock.monotonic()
    // Most partitions are empty: a fault of theirs shows nothing, and takes time.
    const isIdle = partitions.length > 0 && !partitions.some(partition => busy.has(partition))
    if (at >= CALM_AT || isIdle) return WELL
    return at < outageEndsAt ? fateInOutage(verb, random) : fateIn(weather, random)
  }
  const behaviourOf = (destination: string, at: number): Behaviour =>
    at >= CALM_AT ? WELL_BEHAVED : plan.behaviours.get(destination)![Math.floor(at / BEHAVIOUR_MS)]!

  const world: World = new World({
    seed,
    slots,
    listAgainMs,
    lanes: {
      limit,
      rateLimit: rate,
      budget: { kind: 'ratio', ratio: 1, windowMs: 10_000, minRetries },
      credit: CREDIT,
    },
    fateOf,
    hintDelayMs: () => (!isCalm(weather) && random() < 0.2 ? undefined : Math.floor(random() * 10)),
    behaviourOf,
    onRequest: request => ledger.onRequest(request),
    events: { attemptEnded: event => ledger.onAttempt(event) },
  })
  const ledger = new Ledger(world, { limit, rate, minRetries, credit: CREDIT, ...kindnessOf(plan) })
  const beginOutage = (ms: number): void => {
    outageEndsAt = world.clock.monotonic() + ms
  }
  return { world, ledger, beginOutage }
}

function fateInOutage(verb: string, random: Random): Fate {
  const isApplied = verb !== 'beat' && random() < 0.3
  return { beforeMs: 1, isApplied, afterMs: 1, answer: random() < 0.7 ? 'error' : 'silence' }
}

function orderOf({ lanes }: StormPlan, random: Random): Order {
  return {
    ...pick(lanes, random),
    ...(random() < 0.3 && { delayMs: Math.floor(random() * 5_000) }),
    policy: {
      maxAttempts: 2 + Math.floor(random() * 5),
      initialDelayMs: 200,
      maxDelayMs: 4_000,
      totalBudgetMs: 20_000 + Math.floor(random() * 60_000),
      attemptTimeoutMs: 1_000 + Math.floor(random() * 3_000),
    },
  }
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
  } else if (random() < 0.5) {
    world.askedFor.add(task.taskId)
    await world.store.attemptNow(task.taskId)
  } else await replayIfDead(world, task)
}

async function replayIfDead(world: World, { taskId, policy }: Accepted): Promise<void> {
  const task = await world.read(taskId)
  const { now } = await world.store.health()
  const { generation } = task.progress
  if (task.state.status === 'EXHAUSTED')
    await world.store.replay([{ taskId, generation, progress: replayed(task, policy, now) }])
}

/** Everybody goes home, and leaves nothing behind that would ever ring. */
async function leave(world: World): Promise<void> {
  const stopped = Promise.all(world.running.map(({ dispatcher }) => dispatcher.stop({ graceMs: 1_000 })))
  await world.clock.advance(40_000)
  await stopped
  if (world.clock.pending > 0) throw new Error(`${world.clock.pending} alarms are left`)
}
