import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { WORKED_CASES } from './index.ts'
import { runCase } from './worked-case.ts'

/** What is told and does not come out, by case: everything else does. Each has its note. */
const WRONG: { readonly [name: string]: readonly string[] } = {
  shop: [
    'no retries: load on the database',
    'three tries at every tier',
    'three tries at the edge',
    'and a budget of a tenth',
  ],
  'composite-incident': ['first minute: calls at C for each request'],
  recovery: [
    'cap 5 s: retries in the first second after',
    'cap 5 s: from the third to the sixth second',
    'cap 10 s: retries in the first second after',
  ],
  'queued-herd': ['longest queue', 'drained after'],
  'jitter-figures': ['NONE', 'FULL', 'EQUAL', 'DECORRELATED'].flatMap(jitter => [
    `${jitter}: last success`,
    `${jitter}: tries`,
  ]),
  conclusions: [
    'does the least work',
    'work that full jitter saves against equal',
    'work that full jitter saves against none',
    'is done first',
    'the wait without a cap',
  ],
}

describe('incidents as they are told', () => {
  for (const workedCase of WORKED_CASES)
    it(`${workedCase.name}: ${(WRONG[workedCase.name] ?? []).length} claims do not come out`, () => {
      const claims = runCase(workedCase, { scale: 0.02 })
      const wrong = claims.filter(({ holds }) => holds === false)
      assert.deepEqual(
        wrong.map(({ what }) => what),
        WRONG[workedCase.name] ?? [],
      )
      for (const { what, note } of wrong) assert.ok(note !== undefined, `${what} does not say why`)
    }, 60_000)

  it('are not judged where nothing was told, or nothing was simulated', () => {
    const open = ['composite-incident', 'payments'].map(name => {
      const claims = runCase(
        WORKED_CASES.find(one => one.name === name)!,
        { scale: 0.02 },
      )
      return claims.filter(({ theirs, ours, holds }) => {
        const isOpen = theirs === 'not told' || ours === 'not simulated'
        assert.equal(holds === undefined, isOpen)
        return isOpen
      }).length
    })
    assert.deepEqual(open, [3, 1])
  }, 60_000)

  it('gives the numbers of the program that goes with the jitter figures, not those that were printed', () => {
    const workedCase = WORKED_CASES.find(({ name }) => name === 'jitter-figures')
    const ours = Object.fromEntries(runCase(workedCase!).map(({ what, ours }) => [what, ours]))
    assert.deepEqual([ours['NONE: last success'], ours['NONE: tries']], ['5.11 s', '10,000'])
    assert.equal(ours['EQUAL: tries'], '11,000')
  })
})
