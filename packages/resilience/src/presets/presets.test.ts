import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createBudget } from '../budget/run.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { checkPolicy } from '../pipeline/policy.ts'
import { delayMs } from '../retry/backoff.ts'
import { decide, type RetryState } from '../retry/decide.ts'
import type { RetryPolicy } from '../retry/policy.ts'
import { presets } from './presets.ts'

const entries = Object.entries(presets)

describe('a preset', () => {
  it('has a document for each of the published and usual policies', () => {
    assert.deepEqual(Object.keys(presets).toSorted(), [
      'awsSdk',
      'awsSdk2026',
      'awsSdk2026Throttling',
      'awsSdkThrottling',
      'background',
      'envoy',
      'google',
      'grpc',
      'service',
      'springRetry',
      'stripe',
      'userFacing',
      'webhook',
    ])
  })

  it.each(entries)('%s is complete: the check finds nothing to say and nothing to add', (_, preset) => {
    const { policy, problems } = checkPolicy(preset)
    assert.equal(problems, undefined)
    assert.deepEqual(policy, preset)
  })

  it.each(entries)('%s is plain JSON', (_, preset) => assert.deepEqual(JSON.parse(JSON.stringify(preset)), preset))

  it.each(entries)('%s cannot be changed, at any depth', (_, preset) => assert.ok(isFrozen(preset)))

  it('names are different', () => {
    assert.equal(new Set(entries.map(([, { name }]) => name)).size, entries.length)
    assert.equal(new Set(entries.map(([, { retry }]) => retry.policyId)).size, entries.length)
  })

  it('leaves room for every attempt within its deadline', () => {
    const bounded = entries.filter(([name]) => name !== 'service')
    for (const [name, { retry }] of bounded) assert.equal(waits(retry, 1).length, retry.maxAttempts - 1, name)
  })

  it('of the service has the deadline for its limit: it allows more attempts than the longest waits leave room for', () => {
    const { retry } = presets.service
    assert.ok(waits(retry, 1).length < retry.maxAttempts - 1)
    assert.equal(waits(retry, 0).length, retry.maxAttempts - 1)
  })
})

describe('the AWS SDK', () => {
  it('of 2026 waits up to 50 and 100 ms, and pays 14 for each retry', () => {
    assert.deepEqual(waits(presets.awsSdk2026.retry, 1), [50, 100])
    assert.deepEqual(balances('awsSdk2026', 'transient', 2), [486, 472])
  })

  it('of 2026 waits 50, 100, 200, 400 ms where it may make five attempts', () => {
    assert.deepEqual(waits({ ...presets.awsSdk2026.retry, maxAttempts: 5 }, 1), [50, 100, 200, 400])
    assert.deepEqual(balances('awsSdk2026', 'transient', 4), [486, 472, 458, 444])
  })

  it('of 2026 waits up to a second when it is throttled, and pays 5', () => {
    assert.deepEqual(waits(presets.awsSdk2026Throttling.retry, 1), [1_000, 2_000])
    assert.deepEqual(balances('awsSdk2026Throttling', 'throttled', 1), [495])
  })

  it('of 2026 keeps to the wait that the server names', () => {
    const state: RetryState = { attempt: 1, startedAt: 0, previousDelayMs: 50 }
    const moment = { now: 0, roll: 0, expectedCallMs: 0 }
    const decision = decide(
      presets.awsSdk2026.retry,
      state,
      { kind: 'failure', fault: 'transient', retryAfterMs: 1_500 },
      moment,
    )
    assert.ok(decision.kind === 'retry' && decision.at === 1_500)
  })

  it('before 2026 waits 0.5 to 20 s over eight throttled attempts, and pays 5 for each', () => {
    const patient = { ...presets.awsSdkThrottling.retry, maxAttempts: 8, totalBudgetMs: 60_000 }
    assert.deepEqual(waits(patient, 1), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000])
    assert.deepEqual(balances('awsSdkThrottling', 'throttled', 7), [495, 490, 485, 480, 475, 470, 465])
  })

  it('before 2026 pays 10 for a retry after any other failure', () => {
    assert.deepEqual(balances('awsSdk', 'transient', 2), [490, 480])
  })
})

describe('the others', () => {
  it('Envoy waits up to 25, 75, 175 and 250 ms', () => {
    assert.deepEqual(waits({ ...presets.envoy.retry, maxAttempts: 6 }, 1), [25, 75, 175, 250, 250])
    assert.deepEqual(waits({ ...presets.envoy.retry, maxAttempts: 6 }, 0), [0, 0, 0, 0, 0])
  })

  it('webhooks are sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
    const [second, minute, hour] = [1_000, 60_000, 3_600_000]
    const schedule = waits(presets.webhook.retry, 0.5)
    assert.deepEqual(schedule, [
      5 * second,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
    ])
    assert.equal(
      schedule.reduce((sum, ms) => sum + ms, 0),
      75 * hour + 35 * minute + 5 * second,
    )
  })

  it('webhooks are sent again after everything but a success and 410', () => {
    const { retryableStatusCodes } = presets.webhook.retry
    for (const status of [301, 400, 404, 429, 500, 599]) assert.ok(retryableStatusCodes.includes(status), `${status}`)
    for (const status of [200, 204, 410]) assert.ok(!retryableStatusCodes.includes(status), `${status}`)
  })

  it('Stripe never waits less than half a second', () => {
    assert.deepEqual(waits({ ...presets.stripe.retry, maxAttempts: 6 }, 0), [500, 500, 1_000, 2_000, 2_500])
    assert.deepEqual(waits({ ...presets.stripe.retry, maxAttempts: 6 }, 1), [500, 1_000, 2_000, 4_000, 5_000])
  })

  it('a user-facing call ends within five seconds, a job and a task within a day', () => {
    assert.equal(presets.userFacing.retry.totalBudgetMs, 5_000)
    assert.equal(presets.background.retry.totalBudgetMs, 86_400_000)
    assert.equal(presets.service.retry.totalBudgetMs, 86_400_000)
  })
})

/** The waits of an operation whose calls all fail at once, under the same die each time. */
function waits(policy: RetryPolicy, roll: number): number[] {
  const all: number[] = []
  let state: RetryState = { attempt: 1, startedAt: 0, previousDelayMs: policy.initialDelayMs }
  for (let now = 0; ;) {
    const decision = decide(policy, state, { kind: 'failure', fault: 'transient' }, { now, roll, expectedCallMs: 0 })
    if (decision.kind !== 'retry') return all
    assert.equal(decision.at - now, delayMs(policy, state, roll))
    all.push(decision.at - now)
    now = decision.at
    state = decision.state
  }
}

/** What is left of the preset's budget after each of so many retries. */
function balances(preset: keyof typeof presets, fault: 'transient' | 'throttled', retries: number): number[] {
  const budget = createBudget(presets[preset].budget || undefined, { clock: virtualClock() })
  return Array.from({ length: retries }, () => {
    assert.ok(budget.tryWithdraw(fault))
    return budget.balance
  })
}

function isFrozen(value: unknown): boolean {
  return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
}
