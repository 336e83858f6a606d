import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { presets } from '@secondwind/resilience'
import { DOWN, GOOD, KEY, setting } from './dispatcher.test-kit.ts'
import { WELL } from './simulation/faulty-store.test-kit.ts'

describe('a destination that is dead', () => {
  it('costs its tasks few attempts, and the store few calls, however many wait', async () => {
    let calls = 0
    const { world, instance } = await setting({
      behaviourOf: () => DOWN,
      fateOf: (_, verb) => {
        if (verb === 'claim' || verb === 'settle') calls++
        return WELL
      },
    })
    await world.enqueueMany(2_000, { policy: { totalBudgetMs: 36_000_000, maxAttempts: 10 } })
    await world.clock.advance(10_000)
    assert.equal(instance.dispatcher.view(KEY)?.breaker, 'open')
    const [sent, asked] = [world.destinations.seen.length, calls]
    await world.clock.advance(1_200_000)
    const more = world.destinations.seen.length - sent
    // Three kinds, each at most once in a twentieth of the outage.
    assert.ok(more > 0 && more < 400, `${more} requests in twenty minutes`)
    assert.ok(calls - asked < 3 * more, `${calls - asked} calls in twenty minutes`)
  })

  it('and is back is served more with each answer, and has all of them after a while', async () => {
    let isBack = false
    const { world, instance, held } = await setting({
      slots: 100,
      lanes: { limit: 50 },
      behaviourOf: () => (isBack ? { kind: 'answers', status: 200, ms: 400 } : DOWN),
    })
    await world.enqueueMany(600, { policy: { totalBudgetMs: 36_000_000, maxAttempts: 10 } })
    await world.clock.advance(30_000)
    isBack = true
    const sent = world.destinations.seen.length
    assert.equal(instance.dispatcher.view(KEY)?.breaker, 'open')
    await world.clock.advance(3_000)
    const first = world.destinations.seen.slice(sent).filter(({ at }) => at < world.destinations.seen[sent]!.at + 399)
    assert.ok(first.length <= 6, `${first.length} requests before the first answer`)
    await world.clock.advance(20_000)
    assert.equal(await world.count('succeeded'), 600)
    assert.ok(held.some(({ reason }) => reason === 'breaker-open'))
    assert.equal(instance.dispatcher.view(KEY)?.breaker, 'closed')
  })

  it('for an hour and is back has its few tasks soon: the first answer recalls those that failed meanwhile', async () => {
    const { world, sentAt } = await setting({ behaviourOf: (_, at) => (at < 3_620_000 ? DOWN : GOOD) })
    const policy = { ...presets.service.retry, jitterType: 'FULL' } as const
    const tasks = await Promise.all(Array.from({ length: 10 }, () => world.enqueue({ policy })))
    await world.clock.advance(3_600_000 + 180_000)
    for (const task of tasks) assert.equal(await world.statusOf(task), 'SUCCEEDED')
    assert.ok(sentAt().at(-1)! < 3_600_000 + 180_000)
  })

  it('beside a path that answers does not hurry tasks of a path that always fails to their end', async () => {
    const { world } = await setting({
      behaviourOf: (_, __, delivery) => (delivery.headers['idempotency-key'] === dead ? DOWN : GOOD),
    })
    let dead = ''
    dead = (
      await world.enqueue({ policy: { initialDelayMs: 60_000, maxDelayMs: 3_600_000, totalBudgetMs: 86_400_000 } })
    ).taskId
    for (let second = 0; second < 600; second += 3) {
      await world.enqueue()
      await world.clock.advance(3_000)
    }
    const attempts = world.destinations.seen.filter(({ idempotencyKey }) => idempotencyKey === dead)
    // Its own schedule has four in this time; each second wait may be cut short by a recall, and never two in a row.
    assert.ok(attempts.length <= 7, `${attempts.length} attempts`)
  })

  it('recalls no task that was told to wait since it failed', async () => {
    let status = 503
    const { world } = await setting({
      behaviourOf: () => ({ kind: 'answers', status, ms: 50, ...(status === 429 && { retryAfterS: 1_800 }) }),
    })
    const long = { initialDelayMs: 3_600_000, maxDelayMs: 3_600_000, totalBudgetMs: 86_400_000 }
    const { taskId } = await world.enqueue({ policy: long })
    await world.clock.advance(2_000)
    status = 429
    await world.store.attemptNow(taskId)
    await world.clock.advance(2_000)
    status = 200
    // Its lane is held for five minutes; then another task ends the silence.
    await world.clock.advance(301_000)
    await world.enqueue()
    await world.clock.advance(60_000)
    const sent = world.destinations.seen.filter(({ idempotencyKey }) => idempotencyKey === taskId)
    assert.equal(sent.length, 2)
  })

  it('that has become fast is tried again, though its usual call was too long for any deadline', async () => {
    let isDown = false
    let isSlow = true
    const { world } = await setting({
      behaviourOf: () => (isDown ? DOWN : { kind: 'answers', status: 200, ms: isSlow ? 9_000 : 50 }),
    })
    const policy = { totalBudgetMs: 10_000, attemptTimeoutMs: 10_000 }
    await world.enqueueMany(20)
    await world.clock.advance(20_000)
    isDown = true
    for (let second = 0; second < 30; second++) {
      await world.enqueueMany(2, { policy })
      await world.clock.advance(1_000)
    }
    ;[isDown, isSlow] = [false, false]
    const later = []
    for (let second = 0; second < 40; second++) {
      later.push(await world.enqueue({ policy }))
      await world.clock.advance(1_000)
    }
    assert.equal(await world.statusOf(later.at(-1)!), 'SUCCEEDED')
  })

  it('may be tried by hand, at once and one at a time', async () => {
    const { world, sentAt } = await setting({ behaviourOf: () => DOWN, lanes: { credit: { most: { first: 1 } } } })
    const [first, ...others] = await world.enqueueMany(3)
    await world.clock.advance(700)
    assert.equal(sentAt().length, 1, first!.taskId)
    for (const task of others) await world.store.attemptNow(task.taskId)
    await world.clock.advance(25)
    assert.equal(sentAt().length, 2)
    await world.clock.advance(75)
    assert.equal(sentAt().length, 3)
  })

  it('that asks for time gets it from the whole lane', async () => {
    const { world, sentAt, instance } = await setting({
      lanes: { limit: 1 },
      behaviourOf: (_, at) =>
        at < 20_100
          ? { kind: 'answers', status: 429, ms: 10, retryAfterS: 8 }
          : { kind: 'answers', status: 200, ms: 10 },
    })
    await world.enqueueMany(3)
    await world.clock.advance(1_000)
    assert.deepEqual(instance.dispatcher.view(KEY)?.hold?.reason, 'retry-after')
    await world.clock.advance(8_000)
    assert.equal(sentAt()[0], 0)
    assert.equal(sentAt()[1], 8_010)
  })
})
