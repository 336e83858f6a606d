import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { closedBreaker, force, mayStart, phaseOf, record, type BreakerPhaseName, type Permit } from './decide.ts'
import type { CallResult } from './memory.ts'
import { checkBreaker, DEFAULT_BREAKER, withBreakerDefaults, type BreakerInput } from './policy.ts'

type Step = { readonly at: number; readonly phase?: BreakerPhaseName } & (
  | {
      readonly do: 'ask'
      readonly as?: string
      readonly holding?: string
      readonly answer: 'yes' | 'no'
      readonly until?: number
    }
  | { readonly do: 'end'; readonly of: string; readonly result: CallResult }
  | { readonly do: 'call'; readonly result: CallResult; readonly times?: number }
  | { readonly do: 'force'; readonly to: 'open' | 'closed' | null }
  | { readonly do: 'look' }
)

interface Case {
  readonly name: string
  readonly policy: BreakerInput
  readonly steps: readonly Step[]
}

const FIELDS: { readonly [verb in Step['do']]: readonly string[] } = {
  ask: ['as', 'holding', 'answer', 'until'],
  end: ['of', 'result'],
  call: ['result', 'times'],
  force: ['to'],
  look: [],
}

describe('vectors/breaker.json', () => {
  const url = new URL('../../../../vectors/breaker.json', import.meta.url)
  const file = JSON.parse(readFileSync(url, 'utf8')) as { about: string; defaults: BreakerInput; cases: Case[] }
  const { about: _, defaults, cases, ...rest } = file

  it('has no field that nobody reads, and the defaults of a breaker', () => {
    assert.deepEqual(rest, {})
    assert.deepEqual(defaults, DEFAULT_BREAKER)
  })

  for (const { name, policy, steps, ...rest } of cases)
    it(`breaker: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual(checkBreaker(policy), [])
      run(policy, steps)
    })
})

function run(input: BreakerInput, steps: readonly Step[]): void {
  const policy = withBreakerDefaults(input)
  assert.deepEqual(policy, { ...DEFAULT_BREAKER, ...input }, 'another language has nothing but the file')
  const state = closedBreaker(policy, 0)
  const permits = new Map<string, Permit>()

  for (const [index, step] of steps.entries()) {
    const { at, phase } = step
    const place = `step ${index + 1}`
    const known = ['at', 'do', 'phase', ...FIELDS[step.do]]
    assert.deepEqual(
      Object.keys(step).filter(field => !known.includes(field)),
      [],
      place,
    )
    switch (step.do) {
      case 'ask': {
        const answer = mayStart(policy, state, at, permits.get(step.holding ?? ''))
        assert.equal(answer.kind, step.answer, place)
        if (answer.kind === 'yes') permits.set(step.as!, answer.permit)
        else if (step.until !== undefined) assert.equal(answer.until, step.until, place)
        break
      }
      case 'end':
        record(policy, state, permits.get(step.of)!, step.result, at)
        break
      case 'call':
        for (let time = 0; time < (step.times ?? 1); time++) {
          const answer = mayStart(policy, state, at)
          assert.ok(answer.kind === 'yes', `${place}: refused`)
          record(policy, state, answer.permit, step.result, at)
        }
        break
      case 'force':
        force(policy, state, step.to, at)
        break
      case 'look':
    }
    if (phase !== undefined) assert.equal(phaseOf(state, at), phase, place)
  }
}
