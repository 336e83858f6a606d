import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkCredit, DEFAULT_CREDIT, withCreditDefaults } from './credit-policy.ts'

const problemsOf = (input: unknown): string[] => checkCredit(input, 'credit').map(({ at, say }) => `${at}: ${say}`)

describe('the credit of a lane, as a document', () => {
  it('may leave out everything, and each kind on its own', () => {
    assert.deepEqual(problemsOf({}), [])
    assert.deepEqual(problemsOf(DEFAULT_CREDIT), [])
    assert.deepEqual(withCreditDefaults({}), DEFAULT_CREDIT)
    const { perAnswer, most } = withCreditDefaults({ perAnswer: { late: 9 }, most: { first: 5 } })
    assert.deepEqual(
      [perAnswer, most],
      [
        { first: 3, retry: 4, late: 9 },
        { first: 5, retry: 60, late: 20 },
      ],
    )
  })

  it('has its other bound moved along when one is given that passes it', () => {
    const bounds = ({ probeMinMs, probeMaxMs }: { readonly probeMinMs: number; readonly probeMaxMs: number }) => [
      probeMinMs,
      probeMaxMs,
    ]
    assert.deepEqual(bounds(withCreditDefaults({ probeMinMs: 300_000 })), [300_000, 300_000])
    assert.deepEqual(bounds(withCreditDefaults({ probeMaxMs: 500 })), [500, 500])
    assert.deepEqual(bounds(withCreditDefaults({ probeMinMs: 2_000 })), [2_000, 60_000])
  })

  it('is refused with all of its problems at once, and what would be right', () => {
    const input = { max: 3, perAnswer: { frist: 1, retry: 0 }, most: 20, probeShare: 2, probeMinMs: 10 }
    assert.deepEqual(problemsOf(input), [
      'credit.max: is an unknown field; did you mean most?',
      'credit.probeShare: must be a number from 0.001 to 1',
      'credit.probeMinMs: must be a whole number from 100 to 86400000',
      'credit.perAnswer.frist: is an unknown field; did you mean first?',
      'credit.perAnswer.retry: must be a whole number from 1 to 1000000',
      'credit.most: must be an object with first, retry, late',
    ])
    assert.deepEqual(problemsOf(7), ['credit: must be an object with the fields of credit'])
  })

  it('cannot have a shortest interval above its longest', () => {
    assert.deepEqual(problemsOf({ probeMinMs: 2_000, probeMaxMs: 1_000 }), [
      'credit.probeMinMs: must be at most probeMaxMs (1000)',
    ])
  })
})
