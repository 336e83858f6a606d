import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkBudget, DEFAULT_BUDGET } from '../budget/policy.ts'
import { classifyError } from '../classify/classify-error.ts'
import { markOf, retryAfter, transient } from '../classify/marks.ts'
import { FAULTS } from '../classify/outcome.ts'
import { firstState } from './decide.ts'
import { DEFAULT_POLICY } from './policy.ts'
import { askedWaitOf } from './rate-limit-headers.ts'
import { headerOf, parseHttpDate, retryAfterOf } from './retry-after.ts'

describe('the first state', () => {
  const start = { startedAt: 7, deadlineAt: undefined }

  it('holds what is known and nothing else', () => {
    const bare = { attempt: 1, startedAt: 7, previousDelayMs: 100 }
    assert.deepStrictEqual(firstState(DEFAULT_POLICY, start), bare)
    assert.equal(firstState(DEFAULT_POLICY, start, 'not-idempotent').once, 'not-idempotent')
    assert.equal(firstState(DEFAULT_POLICY, { ...start, deadlineAt: 9 }).deadlineAt, 9)
    assert.deepStrictEqual(firstState(DEFAULT_POLICY, { startedAt: 7, deadlineAt: 9 }, 'not-replayable'), {
      ...bare,
      once: 'not-replayable',
      deadlineAt: 9,
    })
  })
})

describe('a header', () => {
  it('is a date only from its first letter to its last', () => {
    assert.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT'), 784_111_777_000)
    assert.equal(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT'), 784_111_777_000)
    assert.equal(parseHttpDate('Sun Nov  6 08:49:37 1994'), 784_111_777_000)
    assert.equal(parseHttpDate('Thu, 01 Jan 1970 00:00:00 GMT'), 0)
    assert.equal(parseHttpDate('at Sun, 06 Nov 1994 08:49:37 GMT'), undefined)
    assert.equal(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT, 5'), undefined)
  })

  it('is read without the white space around it, up to a bounded length', () => {
    assert.equal(headerOf({}, 'x'), '')
    assert.equal(retryAfterOf({ 'retry-after-ms': ' 1500 ' }, 0), 1_500)
    assert.equal(retryAfterOf({ 'retry-after': `${'0'.repeat(199)}5` }, 0), 5_000)
    assert.equal(retryAfterOf({ 'retry-after': `${'0'.repeat(200)}5` }, 0), undefined)
  })

  it('of a quota may have spaces, and a reset that is a date in the past asks for nothing', () => {
    assert.equal(askedWaitOf({ ratelimit: '"default"; r=0; t=30' }, 0), 30_000)
    assert.equal(askedWaitOf({ 'x-ratelimit-reset': '1000000000' }, 1_700_000_000_000), 0)
  })
})

describe('what a failure means', () => {
  it('is one of five words', () => {
    assert.deepEqual(FAULTS, ['transient', 'throttled', 'ambiguous', 'permanent', 'ignored'])
  })

  it('can be marked with a wait of nothing, and on a function too', () => {
    assert.deepEqual(markOf(retryAfter(0, new Error('now'))), { kind: 'failure', fault: 'throttled', retryAfterMs: 0 })
    const thrown = (): void => {}
    assert.equal(transient(thrown), thrown)
    assert.equal(markOf(thrown)?.fault, 'transient')
  })

  it('is not read from a message that is no text', () => {
    for (const message of [Object.create(null), ['fetch failed']])
      assert.equal(classifyError({ name: 'TypeError', message }, [], 0).fault, 'permanent')
  })
})

describe('a check of a budget', () => {
  it('names the path, takes both words for an empty one, and minds only the fields of its kind', () => {
    assert.deepEqual(
      checkBudget({ ...DEFAULT_BUDGET, ratio: -1 }, 'budget').map(({ at }) => at),
      ['budget.ratio'],
    )
    assert.deepEqual(checkBudget({ ...DEFAULT_BUDGET, whenEmpty: 'deny-retries' }), [])
    assert.equal(checkBudget({ ...DEFAULT_BUDGET, capacity: 1, retryCost: 2 }).length, 2)
  })
})
