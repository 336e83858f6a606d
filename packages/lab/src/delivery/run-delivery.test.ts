import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { AT_ONCE, downFor, every, HOUR, MINUTE, SECOND, tasks, world } from './delivery.test-kit.ts'
import { runDelivery } from './run-delivery.ts'

const FIXED = { backoffType: 'FIXED', jitterType: 'NONE', initialDelayMs: 1_000, maxDelayMs: 1_000 } as const

describe('a delivery', () => {
  it('is the same for the same scenario and seed, for ever', () => {
    const scenario = world([tasks(500, { kind: 'poisson', perSecond: 50 }, { failFirst: 1 })], downFor(5 * SECOND))
    const once = JSON.stringify(runDelivery(scenario, { seed: 5 }))
    assert.equal(JSON.stringify(runDelivery(scenario, { seed: 5 })), once)
    assert.notEqual(JSON.stringify(runDelivery(scenario, { seed: 6 })), once)
  })

  it('of a task that fails twice takes three requests, with the waits of its policy between them', () => {
    const { all, endedAtMs } = runDelivery(
      world([tasks(1, AT_ONCE, { failFirst: 2 })], { latencyMs: 10 }, { policy: FIXED }),
    )
    assert.deepEqual([all.requests, all.failedAttempts, all.delivered], [3, 2, 1])
    assert.equal(endedAtMs, 10 + 1_000 + 10 + 1_000 + 10)
    assert.equal(all.lateness.longestMs, endedAtMs)
  })

  it('gives up after the attempts of the policy, and counts the dead by their reason', () => {
    const poison = tasks(5, AT_ONCE, { failFirst: 'all' })
    const { groups, all } = runDelivery(world([poison], {}, { policy: { ...FIXED, maxAttempts: 3 } }))
    assert.deepEqual(groups['tasks']?.dead, { attempts: 5 })
    assert.equal(groups['tasks']?.requests, 15)
    assert.equal(all.tasks, 0, 'tasks that can never be delivered say nothing about the others')
  })

  it('that is never answered ends its attempt by the time-out, and by the deadline if that is earlier', () => {
    const hanging = { troubles: [{ kind: 'hanging' as const, fromMs: 0, untilMs: HOUR }] }
    const endOf = (totalBudgetMs: number): number =>
      runDelivery(
        world([tasks(1, AT_ONCE)], hanging, { policy: { maxAttempts: 1, attemptTimeoutMs: 5_000, totalBudgetMs } }),
      ).endedAtMs
    assert.deepEqual([endOf(60_000), endOf(3_000)], [5_000, 3_000])
  })

  it('of a task whose deadline passes behind a closed gate ends unsent', () => {
    const policy = { maxAttempts: 1, totalBudgetMs: 5 * SECOND }
    const { all } = runDelivery(world([tasks(200, AT_ONCE)], downFor(MINUTE), { policy }))
    // A purse of 20 and a probe in each of the first five seconds are sent; they fail.
    assert.equal(all.delivered, 0)
    assert.deepEqual(Object.keys(all.dead).toSorted(), ['attempts', 'deadline'])
    assert.equal(all.unsent, all.dead['deadline'])
    assert.equal(all.tasks, all.requests + all.unsent)
    assert.ok(all.requests >= 20 && all.requests <= 30, String(all.requests))
  })

  it('begins a backlog of tasks that were tried often with the purse of late attempts', () => {
    const sent = (attemptsMade: number): number =>
      runDelivery(world([tasks(500, AT_ONCE, { attemptsMade })], downFor(MINUTE), { durationMs: 900, policy: FIXED }))
        .all.requests
    assert.deepEqual([sent(0), sent(1), sent(3), sent(4)], [20, 60, 60, 20])
  })

  it('recalls the tasks that failed, as soon as the destination answers after a silence', () => {
    const scenario = world([tasks(31, every(2 * SECOND))], downFor(MINUTE), {
      policy: { ...FIXED, initialDelayMs: HOUR, maxDelayMs: HOUR },
    })
    // None is due again within an hour, and the last arrives while the destination is back.
    const { all, requestsWhileDown } = runDelivery(scenario)
    assert.equal(all.delivered, 31)
    assert.equal(requestsWhileDown, 30)
    assert.ok((all.deliveredAllAtMs ?? Infinity) < MINUTE + 1_100)
  })

  it('waits as long as a throttled answer asks, with all its tasks', () => {
    const limit = { perSecond: 1, burst: 1, status: 429, retryAfterMs: 10_000 } as const
    const { perStep } = runDelivery(
      world([tasks(2, every(5))], { latencyMs: 20, errorMs: 1, limit }, { policy: FIXED }),
    )
    const busy = perStep.failed.flatMap((failed, second) =>
      failed + (perStep.answered[second] ?? 0) > 0 ? [second] : [],
    )
    assert.equal(busy[0], 0)
    assert.ok((busy[1] ?? 0) >= 10, String(busy))
  })

  it('sends no more at once than the limit of its lane', () => {
    const scenario = world([tasks(100, AT_ONCE)], { latencyMs: 100 }, { lane: { limit: 10 }, stepMs: 100 })
    assert.deepEqual(
      runDelivery(scenario).perStep.answered.slice(0, 10),
      Array.from({ length: 10 }, () => 10),
    )
  })

  it('counts tasks that have not ended when the run does', () => {
    const { all, endedAtMs, perStep } = runDelivery(
      world([tasks(10, AT_ONCE)], downFor(HOUR), { durationMs: 10 * SECOND }),
    )
    assert.deepEqual([all.delivered, all.waiting, endedAtMs], [0, 10, 10 * SECOND])
    assert.equal(perStep.waiting.at(-1), 10)
    assert.equal(all.delivered99AtMs, undefined)
  })

  it('counts every request in the step in which it was made, by its result', () => {
    const { all, perStep } = runDelivery(world([tasks(300, every(10), { failFirst: 1 })]))
    const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)
    assert.equal(sum(perStep.answered), all.delivered)
    assert.equal(sum(perStep.failed), all.failedAttempts)
    assert.equal(all.requests, all.delivered + all.failedAttempts)
  })

  it('counts the backlog at the return of the destination apart from tasks that come later', () => {
    const { all, returnsAtMs } = runDelivery(world([tasks(100, every(SECOND))], downFor(20 * SECOND)))
    assert.equal(returnsAtMs, 20 * SECOND)
    assert.ok((all.backlogAllAtMs ?? Infinity) < 30 * SECOND)
    assert.ok((all.deliveredAllAtMs ?? 0) >= 99 * SECOND)
  })
})

describe('a restart', () => {
  const slow = { latencyMs: 500 }

  it('loses the attempts that are under way, and tries their tasks again', () => {
    const { all } = runDelivery(
      world([tasks(10, AT_ONCE)], slow, { policy: FIXED, restarts: [{ atMs: 100, downMs: 400 }] }),
    )
    assert.deepEqual([all.delivered, all.requests, all.failedAttempts], [10, 20, 10])
    assert.equal(all.lateness.longestMs, 100 + 400 + 1_000 + 500)
  })

  it('sends nothing until the service is back', () => {
    const { perStep } = runDelivery(world([tasks(100, every(50))], {}, { restarts: [{ atMs: 1_000, downMs: 2_000 }] }))
    assert.deepEqual(
      perStep.answered.slice(0, 4).map(count => count > 0),
      [true, false, false, true],
    )
  })

  it('without a memory begins with a quarter of its credit', () => {
    const group = tasks(500, { kind: 'together', fromMs: 200 })
    const whole = world([group], downFor(MINUTE), { durationMs: 1_100, policy: FIXED })
    const again = { ...whole, restarts: [{ atMs: 0, downMs: 100 }] }
    assert.deepEqual([runDelivery(whole).all.requests, runDelivery(again).all.requests], [20, 5])
  })

  it('goes on from the memory of the lane: an empty purse stays empty', () => {
    const during = world([tasks(500, AT_ONCE)], downFor(MINUTE), {
      policy: { maxAttempts: 1 },
      restarts: [{ atMs: 10_500, downMs: 100 }],
    })
    const requests = runDelivery({ ...during, durationMs: 15 * SECOND }).all.requests
    // 20 of the purse and a probe a second; a purse of a quarter would be five more.
    assert.ok(requests >= 30 && requests <= 39, String(requests))
  })
})
