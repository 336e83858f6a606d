import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { ignored, permanent, retryAfter, transient } from '../classify/marks.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import { endOf } from '../held.test-kit.ts'
import type { Gate } from '../retry/companion.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { reset, STEADY } from '../retry/scripted.test-kit.ts'
import { seededRandom, virtualClock } from '../testing/index.ts'
import { answerOf } from './decide.ts'
import { withThrottleDefaults, type ThrottleInput } from './policy.ts'
import { createThrottle } from './run.ts'

const ONCE: RetryPolicyInput = { ...STEADY, maxAttempts: 1 }

/** A throttle whose die shows what it is told. */
function setting(policy: ThrottleInput = {}) {
  const clock = virtualClock()
  const die = { shows: 0.99, drawn: 0 }
  const random = (): number => (die.drawn++, die.shows)
  const throttle = createThrottle({ minRequests: 0, ...policy }, { name: 'maps', clock, random })
  const call = (work: () => unknown, callPolicy: RetryPolicyInput = ONCE, ...more: readonly Gate[]): Promise<unknown> =>
    endOf(retry(work, callPolicy, { ports: { clock, random: () => 0.5 }, budget: false, gates: [throttle, ...more] }))
  const fail = (failed: Error) =>
    call(() => {
      throw failed
    })
  return { clock, die, throttle, call, fail }
}

describe('a throttle', () => {
  it('keeps calls back as often as its formula says once they are refused, and says how often', async () => {
    const { call, fail, throttle, die } = setting()
    for (let n = 0; n < 9; n++) await fail(retryAfter(1_000, new Error('slow down')))
    assert.equal(throttle.presentChance, 0.9)
    die.shows = 0.89
    let called = false
    const refused = await call(() => (called = true))
    assert.ok(refused instanceof RefusedError)
    assert.deepEqual([refused.code, historyOf(refused)?.reason, called], ['throttled', 'throttled', false])
    assert.match(refused.message, /^the throttle "maps" keeps 90 % of all calls back.* 120000 ms/)
    die.shows = 0.9
    assert.equal(await call(() => 'sent'), 'sent')
  })

  it('keeps nothing back for successes and for errors that say nothing about load', async () => {
    const { call, fail, throttle } = setting()
    await fail(transient(new Error('down')))
    for (let n = 0; n < 4; n++) await fail(permanent(new Error('404')))
    await call(() => 'well')
    assert.equal(throttle.presentChance, 0)
  })

  it('counts an aborted call as wanted, and as neither accepted nor refused', async () => {
    const { fail, throttle } = setting({ acceptMultiplier: 1 })
    await fail(ignored(new Error('gone')))
    assert.equal(throttle.presentChance, 0)
    await fail(reset())
    assert.equal(throttle.presentChance, 2 / 3)
  })

  it('counts every attempt', async () => {
    const { call, clock, throttle, die } = setting({ acceptMultiplier: 1 })
    const ended = call(() => Promise.reject(reset()), { ...STEADY, maxAttempts: 4 })
    await clock.drain()
    await ended
    assert.deepEqual([die.drawn, throttle.presentChance], [4, 4 / 5])
  })

  it('draws once for an attempt, though a later gate has the operation ask twice', async () => {
    const { call, clock, die } = setting()
    let asked = 0
    const slow: Gate = { accompany: () => ({ enter: now => (asked++ === 0 ? now + 50 : undefined) }) }
    const ended = call(() => 'sent', ONCE, slow)
    await clock.drain()
    assert.deepEqual([await ended, asked, die.drawn], ['sent', 2, 1])
  })

  it('ends a retry that it keeps back with the error of the attempt before', async () => {
    const { call, clock, die } = setting({ acceptMultiplier: 1 })
    const lost = reset()
    const ended = call(() => Promise.reject(lost), STEADY)
    die.shows = 0
    await clock.drain()
    assert.deepEqual([await ended, historyOf(lost)?.attempts, historyOf(lost)?.reason], [lost, 1, 'throttled'])
  })

  it('forgets an outage after its window', async () => {
    const { clock, fail, throttle } = setting({ windowMs: 1_000 })
    for (let n = 0; n < 5; n++) await fail(reset())
    await clock.advance(1_000)
    assert.equal(throttle.presentChance, 0)
  })

  it('sends a dependency that is down about one call in ten', async () => {
    const clock = virtualClock()
    const throttle = createThrottle({}, { clock, random: seededRandom(7) })
    let sent = 0
    for (let n = 0; n < 3_000; n++) {
      const down = (): Promise<never> => (sent++, Promise.reject(transient(new Error('down'))))
      await endOf(retry(down, ONCE, { ports: { clock }, budget: false, gates: [throttle] }))
    }
    assert.ok(sent > 250 && sent < 350, `${sent} of 3000 were sent`)
  })

  it('refuses a document that it cannot keep, with every problem', () => {
    assert.throws(
      () => createThrottle({ acceptMultiplier: 0, minAdmission: 0 }),
      (error: unknown) => error instanceof InvalidPolicyError && error.problems.length === 2,
    )
  })
})

describe('an outcome', () => {
  it('is an acceptance if the dependency did its work or said no, a refusal if it could not, else nothing', () => {
    assert.equal(answerOf(SUCCESS), 'accepted')
    assert.equal(answerOf(failure('permanent')), 'accepted')
    for (const fault of ['throttled', 'ambiguous', 'transient'] as const)
      assert.equal(answerOf(failure(fault)), 'refused', fault)
    assert.equal(answerOf(failure('ignored')), undefined)
  })
})

describe('a throttle under another policy', () => {
  it('goes on with what has been counted, and counts together with the one before', async () => {
    const { fail, throttle } = setting()
    for (let n = 0; n < 9; n++) await fail(reset())
    const gentler = throttle.under(withThrottleDefaults({ minRequests: 0, minAdmission: 0.5 }))
    assert.deepEqual([throttle.presentChance, gentler.presentChance], [0.9, 0.5])
    const patient = throttle.under(withThrottleDefaults({ minRequests: 10 }))
    assert.equal(patient.presentChance, 0)
    await fail(reset())
    assert.equal(patient.presentChance, 0.9, 'what ended before the other counts for both')
  })

  it('begins anew if its window has another length', async () => {
    const { fail, throttle } = setting()
    for (let n = 0; n < 9; n++) await fail(reset())
    assert.equal(throttle.under(withThrottleDefaults({ minRequests: 0, windowMs: 1_000 })).presentChance, 0)
  })
})
