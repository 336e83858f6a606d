import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Control } from '../task/control.ts'
import type { DestinationSettings } from '../task/destination-settings.ts'
import { laneKey, laneOfAll } from '../task/lane.ts'
import { WELL, type FateOf } from './simulation/faulty-store.test-kit.ts'
import type { Behaviour } from './simulation/scripted-target.test-kit.ts'
import { World, type WorldOptions } from './simulation/world.test-kit.ts'

const LANE = laneKey({ tenant: 'acme', destination: 'https://api.example' })
const GOOD: Behaviour = { kind: 'answers', status: 200, ms: 50 }
const DOWN: Behaviour = { kind: 'answers', status: 503, ms: 50 }

/** One instance that has settled in. Instants are from then on. */
async function setting(options: WorldOptions = {}) {
  const warnings: string[] = []
  const policy = { jitterType: 'NONE', initialDelayMs: 1_000, totalBudgetMs: 600_000, maxAttempts: 9 } as const
  const world = new World({
    ...options,
    policy: { ...policy, ...options.policy },
    events: { warning: (code, text) => warnings.push(`${code}: ${text}`) },
  })
  const { dispatcher } = world.start()
  await world.clock.advance(20_000)
  const startedAt = world.clock.now()
  const by = { since: startedAt, by: 'operator', reason: 'a test' }
  return {
    world,
    dispatcher,
    warnings,
    startedAt,
    by,
    sentAt: () => world.destinations.seen.map(({ at }) => at - 20_000),
    set: (settings: DestinationSettings) => world.order('destination', LANE, settings),
    setForAll: (settings: DestinationSettings) => world.order('destination', laneOfAll(LANE), settings),
    control: (more: Partial<Control> = {}) => {
      const scope = { kind: 'all' } as const
      const control = {
        level: 'dispatch-off',
        scope,
        reason: 'a storm',
        createdAt: startedAt,
        createdBy: 'operator',
        isByOperator: true,
      }
      return world.order('control', 'control-1', { ...control, ...more })
    },
  }
}

describe('a pause', () => {
  it('that was written is in force after the next beat: tasks wait, nothing is dropped and nothing counts', async () => {
    const { world, dispatcher, by, set, sentAt } = await setting()
    await set({ paused: by })
    await world.clock.advance(1_100)
    const task = await world.enqueue()
    await world.clock.advance(60_000)
    assert.deepEqual(sentAt(), [])
    assert.deepEqual(dispatcher.view(LANE)!.hold, { reason: 'paused', because: 'a test' })
    await set({})
    await world.clock.advance(1_100)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
    assert.equal((await world.read(task.taskId)).progress.attemptNumber, 1)
  })

  it('of a tenant lets an attempt pass that is asked for by hand', async () => {
    const { world, by, set } = await setting()
    await set({ paused: by })
    await world.clock.advance(1_100)
    const [first, second] = await world.enqueueMany(2)
    await world.store.attemptNow(second!.taskId)
    await world.clock.advance(1_000)
    assert.deepEqual([await world.statusOf(first!), await world.statusOf(second!)], ['PENDING', 'SUCCEEDED'])
  })

  it('of an operator holds what is asked for by hand, before it and during it, until it ends', async () => {
    const { world, by, set, setForAll } = await setting()
    await set({ forced: { ...by, breaker: 'open' } })
    await world.clock.advance(1_100)
    const [before, during] = [await world.enqueue(), await world.enqueue()]
    await world.store.attemptNow(before.taskId)
    await setForAll({ paused: { ...by, isByOperator: true } })
    await set({})
    await world.clock.advance(1_100)
    await world.store.attemptNow(during.taskId)
    await world.clock.advance(5_000)
    assert.deepEqual([await world.statusOf(before), await world.statusOf(during)], ['PENDING', 'PENDING'])
    await setForAll({})
    await world.clock.advance(1_100)
    assert.deepEqual([await world.statusOf(before), await world.statusOf(during)], ['SUCCEEDED', 'SUCCEEDED'])
  })

  it('that ends by its own time needs nobody: the lane comes back step by step', async () => {
    const { world, by, startedAt, set, sentAt } = await setting({ behaviourOf: () => GOOD })
    await set({ paused: { ...by, until: startedAt + 5_000 } })
    await world.clock.advance(1_100)
    await world.enqueueMany(200)
    await world.clock.advance(20_000)
    const inSecond = (second: number): number => sentAt().filter(at => Math.floor(at / 1_000) === second).length
    assert.deepEqual([inSecond(4), inSecond(5), inSecond(7)], [0, 20, 40])
  })
})

describe('a kill switch', () => {
  it('puts back tasks that were claimed before it and not yet sent: that is no attempt', async () => {
    let isSlow = false
    const fateOf: FateOf = (_, verb) => (isSlow && verb === 'claim' ? { ...WELL, afterMs: 1_500 } : WELL)
    const { world, control, sentAt } = await setting({ fateOf })
    isSlow = true
    const task = await world.enqueue()
    await world.clock.advance(10)
    await control()
    await world.clock.advance(5_000)
    assert.deepEqual(sentAt(), [])
    assert.equal(await world.statusOf(task), 'PENDING')
    assert.equal((await world.read(task.taskId)).progress.attemptNumber, 0)
  })

  it('at retries-off lets first attempts go on and holds retries, which come back by a ramp of their own', async () => {
    let behaviour = DOWN
    const lanes = { limit: 50, credit: { most: { first: 100 } } } as const
    const budget = { kind: 'rate', perSecond: 1e6, burst: 1e6 } as const
    const { world, dispatcher, control, sentAt, startedAt } = await setting({
      behaviourOf: () => behaviour,
      lanes: { ...lanes, budget },
      slots: 60,
    })
    await control({ level: 'retries-off' })
    await world.clock.advance(1_100)
    await world.enqueueMany(40)
    await world.clock.advance(10_000)
    assert.equal(sentAt().length, 40, 'each once')
    const { hold, kindHolds } = dispatcher.view(LANE)!
    const { controlId, ...words } = kindHolds!.retry!
    assert.deepEqual(kindHolds?.late?.reason, 'kill-switch')
    assert.equal(typeof controlId, 'string', 'whoever is held can say which one to end')
    assert.deepEqual(
      [hold, words],
      [undefined, { reason: 'kill-switch', level: 'retries-off', because: 'a storm', isByOperator: true }],
    )
    behaviour = GOOD
    await control({ level: 'retries-off', endedAt: startedAt + 11_100 })
    await world.clock.advance(2_000)
    const retries = sentAt().length - 40
    assert.ok(retries >= 10 && retries <= 25, `${retries} in the first seconds, one at a time`)
    await world.enqueueMany(5)
    await world.clock.advance(60)
    assert.ok(sentAt().length >= 40 + retries + 5, 'first attempts do not stand behind the ramp')
    await world.finish(60_000)
  })

  it('of a policy holds its tasks alone', async () => {
    const { world, dispatcher, control } = await setting()
    await control({ scope: { kind: 'policy', policyId: 'inline' } })
    await world.clock.advance(1_100)
    const task = await world.enqueue()
    await world.clock.advance(5_000)
    assert.equal(await world.statusOf(task), 'PENDING')
    assert.equal(dispatcher.view(LANE)!.policyHolds![0]!.hold.reason, 'kill-switch')
    await control({ scope: { kind: 'policy', policyId: 'another' } })
    await world.clock.advance(1_100)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })
})

describe('an instance that does not hear from the store', () => {
  it('sends nothing after two seconds, for it does not know what was ordered; then goes on', async () => {
    let isDeaf = false
    const fateOf: FateOf = (_, verb) => (isDeaf && verb === 'beat' ? { ...WELL, answer: 'silence' } : WELL)
    const { world, dispatcher, sentAt } = await setting({ fateOf })
    isDeaf = true
    await world.clock.advance(2_500)
    await world.enqueue()
    await world.clock.advance(500)
    assert.deepEqual(dispatcher.view(LANE)!.hold, { reason: 'store' })
    assert.deepEqual(sentAt(), [])
    isDeaf = false
    await world.finish(20_000)
  })
})

describe("a destination's settings", () => {
  it('are its own limits, from the next beat on', async () => {
    const { world, set } = await setting({ behaviourOf: () => ({ kind: 'answers', status: 200, ms: 10_000 }) })
    await set({ limits: { concurrency: 2 } })
    await world.clock.advance(1_100)
    await world.enqueueMany(6)
    await world.clock.advance(1_000)
    assert.equal(world.destinations.open.size, 2)
    await set({ limits: { concurrency: 5 } })
    await world.clock.advance(1_100)
    assert.equal(world.destinations.open.size, 5)
  })

  it('that another version of the program wrote, and nobody understands here, are said and passed over', async () => {
    const { world, set, warnings } = await setting()
    await set({ limits: { concurrency: 'many' as unknown as number } })
    await world.clock.advance(1_100)
    assert.match(
      warnings.join('\n'),
      /strange-settings: acme https:\/\/api\.example: its limits are not obeyed, for limit/,
    )
    await world.enqueue()
    await world.finish(5_000)
  })

  it('of a breaker forced open hold everything until it judges for itself again', async () => {
    const { world, dispatcher, by, set } = await setting()
    await set({ forced: { ...by, breaker: 'open' } })
    await world.clock.advance(1_100)
    const task = await world.enqueue()
    await world.clock.advance(60_000)
    const { breaker, hold } = dispatcher.view(LANE)!
    assert.deepEqual([breaker, hold], ['forced-open', { reason: 'breaker-open' }])
    await set({ forced: { ...by, breaker: 'auto', since: world.clock.now() } })
    await world.clock.advance(1_100)
    assert.equal(await world.statusOf(task), 'SUCCEEDED')
  })
})

describe('what is ordered for every tenant', () => {
  it('holds beside what a tenant has ordered for itself: either pause keeps its tasks', async () => {
    const { world, dispatcher, by, set, setForAll } = await setting()
    await setForAll({ paused: { ...by, isByOperator: true } })
    await world.clock.advance(1_100)
    const [ours, theirs] = [await world.enqueue(), await world.enqueue({ tenant: 'globex' })]
    await world.clock.advance(10_000)
    assert.deepEqual([await world.statusOf(ours), await world.statusOf(theirs)], ['PENDING', 'PENDING'])
    const held = { reason: 'paused', because: 'a test', isByOperator: true }
    assert.deepEqual(dispatcher.view(LANE)!.hold, held)
    await set({ paused: by })
    await setForAll({ resumed: { ...by, since: world.clock.now() } })
    await world.clock.advance(1_100)
    assert.deepEqual([await world.statusOf(ours), await world.statusOf(theirs)], ['PENDING', 'SUCCEEDED'])
    assert.deepEqual(dispatcher.view(LANE)!.hold, { reason: 'paused', because: 'a test' })
  })

  it('is named beside what else holds, the longest first', async () => {
    const { world, dispatcher, by, startedAt, set, setForAll, control } = await setting()
    await setForAll({ paused: { ...by, isByOperator: true, until: startedAt + 60_000 } })
    await set({ paused: by, forced: { ...by, breaker: 'open' } })
    await control({ expiresAt: startedAt + 90_000 })
    await world.clock.advance(1_100)
    await world.enqueue()
    await world.clock.advance(1_000)
    const { others, ...hold } = dispatcher.view(LANE)!.hold!
    assert.deepEqual(hold, { reason: 'paused', because: 'a test' })
    assert.deepEqual(
      others!.map(({ reason, until, isByOperator }) => [reason, until && until - startedAt, isByOperator]),
      [
        ['breaker-open', undefined, undefined],
        ['kill-switch', 90_000, true],
        ['paused', 60_000, true],
      ],
    )
  })

  it('is the limit where it is the stricter one, for each tenant its own', async () => {
    const { world, set, setForAll } = await setting({
      behaviourOf: () => ({ kind: 'answers', status: 200, ms: 10_000 }),
    })
    await setForAll({ limits: { concurrency: 3 } })
    await set({ limits: { concurrency: 5 } })
    await world.clock.advance(1_100)
    await world.enqueueMany(6)
    await world.clock.advance(1_000)
    assert.equal(world.destinations.open.size, 3)
    await world.enqueueMany(6, { tenant: 'globex' })
    await world.clock.advance(1_000)
    assert.equal(world.destinations.open.size, 6)
    await set({ limits: { concurrency: 2 } })
    await world.clock.advance(30_000)
    assert.ok(world.destinations.open.size <= 5)
  })

  it('is not stopped by one tenant’s own failures: that one is held alone, until the way back is over', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const { world, dispatcher, by, startedAt, setForAll } = await setting({
      behaviourOf: () => ({ ...GOOD, ms: 2_000 }),
      lanes,
    })
    const rule = { rampMs: 60_000, stopOnFailureRate: 0.5, overLast: 4 }
    await setForAll({ resumed: { ...by, ...rule, isByOperator: true } })
    await world.clock.advance(1_100)
    await world.enqueueMany(10, { policy: { attemptTimeoutMs: 1, totalBudgetMs: 3_600_000 } })
    const others = await world.enqueueMany(3, { tenant: 'globex' })
    await world.clock.advance(30_000)
    assert.equal(dispatcher.orders.destination(laneOfAll(LANE))!.settings.paused, undefined)
    for (const task of others) assert.equal(await world.statusOf(task), 'SUCCEEDED')
    const { paused } = dispatcher.orders.destination(LANE)!.settings
    assert.deepEqual([paused!.by, paused!.until, paused!.isByOperator], ['system', startedAt + 60_000, undefined])
    const sent = world.destinations.seen.length
    await world.clock.advance(20_000)
    assert.equal(world.destinations.seen.length, sent)
    await world.clock.advance(20_000)
    assert.ok(world.destinations.seen.length > sent, 'then it may try again')
  })

  it('is not stopped by the only tenant that sends, where another has had tasks: that one may be about to', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const { world, dispatcher, by, setForAll } = await setting({ behaviourOf: () => ({ ...GOOD, ms: 2_000 }), lanes })
    const rule = { rampMs: 60_000, stopOnFailureRate: 0.5, overLast: 4 }
    await world.enqueueMany(1, { tenant: 'globex' })
    await world.clock.advance(10_000)
    await setForAll({ resumed: { ...by, since: world.clock.now(), ...rule, isByOperator: true } })
    await world.clock.advance(1_100)
    await world.enqueueMany(10, { policy: { attemptTimeoutMs: 1, totalBudgetMs: 3_600_000 } })
    await world.clock.advance(10_000)
    assert.equal(dispatcher.orders.destination(laneOfAll(LANE))!.settings.paused, undefined)
    assert.equal(dispatcher.orders.destination(LANE)!.settings.paused!.by, 'system')
    const [late] = await world.enqueueMany(1, { tenant: 'globex' })
    await world.clock.advance(10_000)
    assert.equal(await world.statusOf(late!), 'SUCCEEDED')
  })

  it('is stopped for each tenant that it fails for, and for no other', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const { world, dispatcher, by, startedAt, setForAll } = await setting({ behaviourOf: () => DOWN, lanes })
    const rule = { rampMs: 60_000, stopOnFailureRate: 0.5, overLast: 4 }
    await setForAll({ resumed: { ...by, ...rule, isByOperator: true } })
    await world.clock.advance(1_100)
    await world.enqueueMany(10)
    await world.clock.advance(10_000)
    const theirs = laneKey({ tenant: 'globex', destination: 'https://api.example' })
    const until = startedAt + 60_000
    assert.deepEqual(dispatcher.view(LANE)!.hold, { ...STOPPED, until })
    assert.equal(dispatcher.orders.destination(theirs), undefined)
    await world.enqueueMany(10, { tenant: 'globex' })
    await world.clock.advance(10_000)
    assert.deepEqual(dispatcher.view(theirs)!.hold, { ...STOPPED, until })
    assert.equal(dispatcher.orders.destination(laneOfAll(LANE))!.settings.paused, undefined)
  })
})

const STOPPED = {
  reason: 'paused',
  because: 'at least 50 % of the last 4 attempts failed while it was coming back',
  isByRule: true,
} as const

describe('a destination that is resumed under a stop rule', () => {
  const rule = { rampMs: 60_000, stopOnFailureRate: 0.5, overLast: 4 }

  it('is paused again when too many of its attempts fail, by nobody but the service itself', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const { world, dispatcher, by, set, sentAt, warnings } = await setting({ behaviourOf: () => DOWN, lanes })
    await set({ name: 'payments', resumed: { ...by, ...rule } })
    await world.clock.advance(1_100)
    await world.enqueueMany(10)
    await world.clock.advance(30_000)
    assert.ok(sentAt().length <= 3, 'half of four, and what had begun by then')
    const { document } = (await world.store.record({ kind: 'destination', id: LANE }))!
    const { name, paused, resumed } = document as DestinationSettings
    assert.deepEqual([name, paused!.by, resumed], ['payments', 'system', undefined])
    assert.equal(dispatcher.view(LANE)!.hold!.reason, 'paused')
    assert.match(warnings.join(), /paused-again/)
    const { items } = await world.store.audit({ limit: 10 })
    assert.deepEqual(
      items.map(({ actor, action, subject }) => [actor, action, subject]),
      [['system', 'destination.pause', 'https://api.example']],
    )
  })

  it('by an operator is paused again by order of an operator, until an operator resumes it', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const { world, dispatcher, by, set } = await setting({ behaviourOf: () => DOWN, lanes })
    await set({ resumed: { ...by, ...rule, isByOperator: true } })
    await world.clock.advance(1_100)
    await world.enqueueMany(10)
    await world.clock.advance(30_000)
    assert.deepEqual(dispatcher.view(LANE)!.hold, { ...STOPPED, isByOperator: true })
  })

  it('is watched from the instant of that resume: of an earlier one nothing counts', async () => {
    const lanes = { credit: { most: { first: 1_000, retry: 1_000, late: 1_000 } } } as const
    const policy = { initialDelayMs: 300_000, maxDelayMs: 300_000 }
    const { world, dispatcher, by, set } = await setting({ behaviourOf: () => DOWN, lanes, policy })
    for (let time = 0; time < 2; time++) {
      await set({ resumed: { ...by, since: world.clock.now(), ...rule } })
      await world.clock.advance(1_100)
      await world.enqueue()
      await world.clock.advance(2_000)
    }
    assert.equal(dispatcher.orders.destination(LANE)!.settings.paused, undefined, 'one failure of each')
  })

  it('stays open when they succeed', async () => {
    const { world, by, set } = await setting()
    await set({ resumed: { ...by, ...rule } })
    await world.clock.advance(1_100)
    const [task] = await world.enqueueMany(30)
    await world.finish(60_000)
    assert.equal(await world.statusOf(task!), 'SUCCEEDED')
  })
})
