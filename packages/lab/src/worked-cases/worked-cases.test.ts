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
  prose: [
    'a rate limit outside the retries includes them',
    'Envoy: next limit after 100, calls 2.5 times as slow',
    'a bucket filled by successes, half failing',
    'gRPC: a maxTokens that is not whole',
    'three retries, a tenth failing: operations lost',
    '"retry three times" as three retries: retries in the collapse',
    'decorrelated waits that stand at the cap, once there',
    'the wait, a server asking for 0.1 s and the backoff for 1 s',
    "Polly's newer decorrelated jitter, wait 2: median",
    "Polly's newer decorrelated jitter, wait 4: median",
    'one client that thinks 20 ms between calls of 100 ms: load',
    'ten clients that think 1.145 s: load',
    'a call every 100 µs instead of every 75 µs: load removed',
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
