import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkRetryPolicy } from '../retry/policy.ts'
import { checkFields, flag, listOf, numberBetween, oneOf, sayProblems, text, wholeNumber } from './problems.ts'

describe('a check of fields', () => {
  const fields = {
    count: wholeNumber(1, 10),
    ratio: numberBetween(0, 1),
    kind: oneOf('big', 'small'),
    list: listOf(wholeNumber(0, 5), 3),
    name: text(5),
    isOpen: flag,
  }

  it('finds nothing where all is well, and takes undefined for absent', () => {
    assert.deepEqual(
      checkFields(
        { count: 3, ratio: 0.5, kind: 'big', list: [1], name: 'a', isOpen: false, extra: undefined },
        { ...fields, extra: text(1) },
      ),
      [],
    )
  })

  it('reports every problem at once: where, what stands there, what would be right', () => {
    const input = { count: 0, ratio: '1', kind: 'medium', list: [1, 9], name: '', isOpen: 'true', size: 3 }
    assert.deepEqual(checkFields(input, fields, {}, 'box.'), [
      { at: 'box.count', is: 0, say: 'must be a whole number from 1 to 10' },
      { at: 'box.ratio', is: '1', say: 'must be a number from 0 to 1' },
      { at: 'box.kind', is: 'medium', say: 'must be one of big, small' },
      { at: 'box.list', is: [1, 9], say: 'must be a list of 1 to 3 entries, each a whole number from 0 to 5' },
      { at: 'box.name', is: '', say: 'must be a text of 1 to 5 characters' },
      { at: 'box.isOpen', is: 'true', say: 'must be true or false' },
      { at: 'box.size', is: 3, say: 'is an unknown field' },
    ])
  })

  it('asks whether a near word was meant', () => {
    const say = (field: string): string => checkFields({ [field]: 1 }, fields)[0]!.say
    assert.equal(say('cuont'), 'is an unknown field; did you mean count?')
    assert.equal(say('Ratio'), 'is an unknown field; did you mean ratio?')
    assert.equal(say('ratios'), 'is an unknown field; did you mean ratio?')
    assert.equal(say('toString'), 'is an unknown field')
  })

  it('writes them so that a person can read them', () => {
    const problems = checkFields({ kind: 'medium', count: NaN }, fields)
    assert.equal(
      sayProblems(problems),
      '\n  kind must be one of big, small (is "medium")\n  count must be a whole number from 1 to 10 (is NaN)',
    )
  })
})

describe('a policy', () => {
  const problemsOf = (input: unknown): string[] =>
    (checkRetryPolicy(input).problems ?? []).map(({ at, say }) => `${at} ${say}`)

  it('is completed with the defaults', () => {
    const { policy } = checkRetryPolicy({ maxAttempts: 5 })
    assert.equal(policy?.maxAttempts, 5)
    assert.equal(policy?.jitterType, 'FULL')
  })

  it('takes each slip of the keyboard for what was meant', () => {
    assert.deepEqual(problemsOf({ maxAtempts: 3 }), ['maxAtempts is an unknown field; did you mean maxAttempts?'])
    assert.deepEqual(problemsOf({ initialDelay: 3 }), [
      'initialDelay is an unknown field; did you mean initialDelayMs?',
    ])
    assert.deepEqual(problemsOf({ maxDelay: 3 }), ['maxDelay is an unknown field; did you mean maxDelayMs?'])
    assert.deepEqual(problemsOf({ retries: 3 }), [
      'retries is an unknown field; did you mean maxAttempts, which counts all calls (retries + 1)?',
    ])
  })

  it('takes no infinity, no negative and no half numbers', () => {
    for (const maxAttempts of [0, -1, 1.5, Infinity, NaN, '3', null])
      assert.equal(problemsOf({ maxAttempts }).length, 1, String(maxAttempts))
    for (const field of ['initialDelayMs', 'minDelayMs', 'maxDelayMs', 'totalBudgetMs', 'attemptTimeoutMs'])
      for (const value of [-1, 0.5, Infinity, NaN, '1']) assert.equal(problemsOf({ [field]: value }).length, 1)
  })

  it('is refused when its parts contradict each other', () => {
    assert.deepEqual(problemsOf({ initialDelayMs: 500, maxDelayMs: 100 }), [
      'initialDelayMs must not exceed maxDelayMs, 100',
    ])
    assert.deepEqual(problemsOf({ minDelayMs: 9_000 }), ['minDelayMs must not exceed maxDelayMs, 5000'])
    assert.deepEqual(problemsOf({ backoffType: 'CUSTOM' }), ['delaysMs and backoffType CUSTOM need each other'])
    assert.deepEqual(problemsOf({ delaysMs: [1] }), ['delaysMs and backoffType CUSTOM need each other'])
    assert.deepEqual(problemsOf({ inProcess: { maxAttempts: 4 } }), [
      'inProcess.maxAttempts must be a whole number from 1 to 3',
    ])
    assert.deepEqual(problemsOf({ inProcess: 3 }), [
      'inProcess must be an object with maxAttempts, totalBudgetMs or both',
    ])
  })

  it('makes room for the one end of the range that was named', () => {
    assert.equal(checkRetryPolicy({ initialDelayMs: 60_000 }).policy?.maxDelayMs, 60_000)
    assert.equal(checkRetryPolicy({ maxDelayMs: 50 }).policy?.initialDelayMs, 50)
    assert.equal(checkRetryPolicy({ backoffType: 'CUSTOM', delaysMs: [1, 60_000] }).policy?.maxDelayMs, 60_000)
  })

  it('must be an object', () => {
    for (const input of [null, 3, 'policy', [], undefined]) assert.equal(problemsOf(input).length, 1)
  })
})
