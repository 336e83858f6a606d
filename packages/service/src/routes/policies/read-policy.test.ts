import { presets } from '@secondwind/resilience'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkPolicyId, readPolicy } from './read-policy.ts'

const problemsOf = (input: unknown, path?: string): string[] =>
  (readPolicy(input, path).problems ?? []).map(({ at, say }) => `${at} ${say}`)

describe('a policy for the service', () => {
  it('has what it leaves out from the default policy of the service, not from that of the library', () => {
    const { policyId: _, ...defaults } = presets.service.retry
    assert.deepEqual(readPolicy({}).policy, defaults)
    assert.deepEqual(readPolicy({ policyId: 'a', maxAttempts: 3 }).policy, {
      policyId: 'a',
      ...defaults,
      maxAttempts: 3,
    })
  })

  it('makes room for the end of the range that was named', () => {
    assert.equal(readPolicy({ initialDelayMs: 7_200_000 }).policy?.maxDelayMs, 7_200_000)
    assert.equal(readPolicy({ maxDelayMs: 500 }).policy?.initialDelayMs, 500)
    assert.equal(readPolicy({ minDelayMs: 9_000 }).policy?.minDelayMs, 9_000)
  })

  it('is told of everything at once, also of what only the service limits', () => {
    const problems = problemsOf({ maxAttempts: 1e9, attemptTimeoutMs: 300_001 })
    assert.deepEqual(
      problems.map(problem => problem.split(' ', 1)[0]),
      ['maxAttempts', 'attemptTimeoutMs'],
    )
  })

  it('is the same text whatever the order in which it was written', () => {
    const one = {
      delaysMs: [1, 2],
      backoffType: 'CUSTOM',
      inProcess: { totalBudgetMs: 10, maxAttempts: 2 },
      policyId: 'a',
    }
    const other = {
      policyId: 'a',
      inProcess: { maxAttempts: 2, totalBudgetMs: 10 },
      backoffType: 'CUSTOM',
      delaysMs: [1, 2],
    }
    assert.equal(JSON.stringify(readPolicy(one).policy), JSON.stringify(readPolicy(other).policy))
  })

  it('is refused with the words of the library, below the path where it stood', () => {
    assert.deepEqual(problemsOf({ maxAtempts: 3, retries: 1 }, 'policy'), [
      'policy.maxAtempts is an unknown field; did you mean maxAttempts?',
      'policy.retries is an unknown field; did you mean maxAttempts, which counts all calls (retries + 1)?',
    ])
    assert.deepEqual(problemsOf(3, 'policy'), ['policy must be an object with the fields of a policy'])
  })

  it('has attempts of five minutes at most', () => {
    assert.deepEqual(problemsOf({ attemptTimeoutMs: 300_000 }), [])
    assert.deepEqual(problemsOf({ attemptTimeoutMs: 300_001 }), [
      'attemptTimeoutMs must be at most 300000 in the service',
    ])
  })

  it('is read from the document of a pipeline, whose other parts are refused with the reason', () => {
    assert.deepEqual(readPolicy({ name: 'payments', retry: { maxAttempts: 3 } }).policy?.policyId, 'payments')
    assert.deepEqual(problemsOf({ name: 'a', retry: { maxAtempts: 3 }, breaker: {}, maxAttempts: 4 }), [
      'breaker is not for the service, where each destination has credit in its place: see limits.credit',
      'maxAttempts is an unknown field; what belongs to a policy stands in retry',
      'retry.maxAtempts is an unknown field; did you mean maxAttempts?',
    ])
    assert.deepEqual(problemsOf({ name: 'a' }), ['retry must be an object with the fields of a policy'])
  })
})

describe('the name of a policy', () => {
  it('is 1 to 100 letters, digits, dots, dashes and underscores, and not the reserved one', () => {
    for (const name of ['a', 'payments.v2_x-1', 'x'.repeat(100)]) assert.deepEqual(checkPolicyId(name), [], name)
    for (const name of ['', 'a b', 'ä', 'a/b', 'x'.repeat(101), 'inline', 'a\n', 3, undefined])
      assert.equal(checkPolicyId(name).length, 1, String(name))
  })
})
