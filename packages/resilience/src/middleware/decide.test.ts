import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isRepeatedCall, lessonOf, refusalOf, timeForRequestMs } from './decide.ts'
import { checkAdmission, DEFAULT_ADMISSION, withAdmissionDefaults } from './policy.ts'

describe('the time for a request', () => {
  it('is what it asks for, less the reserve', () => {
    assert.equal(timeForRequestMs(DEFAULT_ADMISSION, { 'x-timeout-ms': '500' }, 0), 490)
    assert.equal(timeForRequestMs(DEFAULT_ADMISSION, { 'x-timeout-ms': '5' }, 0), 0)
  })

  it('is unlimited when nobody limits it', () => {
    assert.equal(timeForRequestMs(DEFAULT_ADMISSION, {}, 0), undefined)
  })

  it('is never more than maxTimeoutMs, which also holds for those who ask for nothing', () => {
    const policy = { ...DEFAULT_ADMISSION, maxTimeoutMs: 1_000 }
    assert.equal(timeForRequestMs(policy, { 'x-timeout-ms': '900000' }, 0), 1_000)
    assert.equal(timeForRequestMs(policy, { 'x-timeout-ms': '500' }, 0), 490)
    assert.equal(timeForRequestMs(policy, {}, 0), 1_000)
  })
})

describe('a caller that retries', () => {
  it('is known by a Retry-Attempt above 1, and by nothing that cannot be read', () => {
    const values = ['2', '15', '1', '0', '-2', '2.5', 'two', '', '99999999999']
    assert.deepEqual(
      values.map(value => isRepeatedCall({ 'retry-attempt': value })),
      [true, true, false, false, false, false, false, false, false],
    )
    assert.equal(isRepeatedCall({}), false)
  })
})

describe('a refusal', () => {
  it('of a request that nobody waits for is a 504 without a time to come back', () => {
    const { status, headers, body } = refusalOf('deadline', DEFAULT_ADMISSION, 0)
    assert.deepEqual([status, headers], [504, { 'content-type': 'application/problem+json' }])
    assert.deepEqual(JSON.parse(body), {
      title: 'Gateway Timeout',
      status: 504,
      code: 'deadline',
      detail: 'the deadline of the request has passed',
    })
  })

  it('for want of room names a time to come back, spread over as much again', () => {
    const waits = [0, 0.25, 0.999].map(roll => refusalOf('throttled', DEFAULT_ADMISSION, roll).headers)
    assert.deepEqual(
      waits.map(headers => [headers['retry-after'], headers['retry-after-ms']]),
      [
        ['1', '1000'],
        ['2', '1250'],
        ['2', '1999'],
      ],
    )
  })

  it('never asks to come back at once, though less than a second is meant', () => {
    assert.equal(refusalOf('throttled', { ...DEFAULT_ADMISSION, retryAfterMs: 100 }, 0).headers['retry-after'], '1')
  })

  it('for want of room is a 503, or a 429 where that is wanted', () => {
    assert.equal(refusalOf('throttled', DEFAULT_ADMISSION, 0).status, 503)
    assert.equal(refusalOf('throttled', { ...DEFAULT_ADMISSION, shedStatus: 429 }, 0).status, 429)
  })
})

describe('what a limit learns from a request', () => {
  it('is how long it took, if it was answered well', () => {
    assert.equal(lessonOf({ status: 200, remainingMs: undefined }), 'good')
    assert.equal(lessonOf({ status: 404, remainingMs: 5 }), 'good')
  })

  it('is that it was too slow, if its deadline passed', () => {
    assert.equal(lessonOf({ status: 200, remainingMs: 0 }), 'dropped')
    assert.equal(lessonOf({ status: undefined, remainingMs: 0 }), 'dropped')
  })

  it('is nothing, if it failed or its caller went away', () => {
    assert.equal(lessonOf({ status: 500, remainingMs: 5 }), 'none')
    assert.equal(lessonOf({ status: undefined, remainingMs: undefined }), 'none')
  })
})

describe('the policy of an admission', () => {
  it('is right as it stands, and limits nobody', () => {
    assert.deepEqual(checkAdmission(DEFAULT_ADMISSION), [])
    assert.deepEqual(withAdmissionDefaults({}), DEFAULT_ADMISSION)
  })

  it('with a limiter has a queue too, and its limit as the cap', () => {
    const { bulkhead, limiter } = withAdmissionDefaults({ limiter: { kind: 'vegas', maxLimit: 40 } })
    assert.deepEqual(bulkhead, { limit: 40, maxQueued: 25, maxWaitMs: 1_000 })
    assert.equal(limiter?.kind, 'vegas')
  })

  it('says everything that is wrong, at once', () => {
    const wrong = { shedStatus: 500, limit: 3, bulkhead: { limit: 0 }, limiter: { kind: 'best' } }
    assert.deepEqual(
      checkAdmission(wrong).map(({ at }) => at),
      ['shedStatus', 'limit', 'bulkhead.limit', 'limiter.kind'],
    )
    assert.equal(checkAdmission(3).length, 1)
  })
})
