import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { aimd } from './aimd.ts'
import { nextLimit, wholeLimit } from './decide.ts'
import { envoyGradient, type EnvoyWindow } from './envoy-gradient.ts'
import { gradient2 } from './gradient2.ts'
import { checkLimiter, DEFAULT_LIMITERS, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from './policy.ts'
import { startLimit, type CallSample, type LimitState } from './state.ts'
import { vegas } from './vegas.ts'

interface Step extends Omit<CallSample, 'dropped'> {
  readonly dropped?: boolean
  readonly times?: number
  readonly limit: number
  readonly whole?: number
}

interface Case {
  readonly name: string
  readonly policy: LimiterInput
  readonly state?: Partial<LimitState>
  readonly steps: readonly Step[]
}

interface Vectors {
  readonly about: string
  readonly defaults: unknown
  readonly published: readonly Case[]
  readonly cases: readonly Case[]
  readonly envoy: readonly (EnvoyWindow & { readonly name: string; readonly next: number })[]
}

describe('vectors/limiter.json', () => {
  const url = new URL('../../../../vectors/limiter.json', import.meta.url)
  const file = JSON.parse(readFileSync(url, 'utf8')) as Vectors
  const { about: _, defaults, published, cases, envoy, ...rest } = file

  it('has no field that nobody reads, and the defaults of each kind', () => {
    assert.deepEqual(rest, {})
    assert.deepEqual(defaults, DEFAULT_LIMITERS)
  })

  const lists = [
    { kind: 'as published', rule: asPublished, cases: published },
    { kind: 'guarded', rule: nextLimit, cases },
  ]
  for (const { kind, rule, cases } of lists)
    for (const { name, policy, state, steps, ...rest } of cases)
      it(`${kind}: ${name}`, () => {
        assert.deepEqual(rest, {})
        assert.deepEqual(checkLimiter(policy), [])
        run(rule, policy, state ?? {}, steps)
      })

  for (const { name, limit, idleMs, sampleMs, next, ...rest } of envoy)
    it(`Envoy's gradient: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.equal(envoyGradient({ limit, idleMs, sampleMs }), next)
    })
})

function run(rule: typeof asPublished, input: LimiterInput, given: Partial<LimitState>, steps: readonly Step[]): void {
  const policy = withLimiterDefaults(input)
  assert.deepEqual(policy, { ...DEFAULT_LIMITERS[input.kind], ...input }, 'another language has nothing but the file')
  const known = startLimit(policy)
  const state = { ...known, ...given }
  assert.deepEqual(Object.keys(state), Object.keys(known))

  for (const [place, { times = 1, limit, whole, dropped = false, ...sample }] of steps.entries()) {
    const { durationMs: _, inFlight: __, roll: ___, ...rest } = sample
    assert.deepEqual(rest, {})
    for (let time = 0; time < times; time++) rule(policy, state, { dropped, ...sample })
    assert.ok(Math.abs(state.limit - limit) < 1e-9, `step ${place + 1}: ${state.limit}, not ${limit}`)
    if (whole !== undefined) assert.equal(wholeLimit(state), whole, `step ${place + 1}`)
  }
}

function asPublished(policy: LimiterPolicy, state: LimitState, sample: CallSample): void {
  switch (policy.kind) {
    case 'vegas':
      return vegas(policy, state, sample)
    case 'gradient2':
      return gradient2(policy, state, sample)
    case 'aimd':
      return aimd(policy, state, sample)
  }
}
