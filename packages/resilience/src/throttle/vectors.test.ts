import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { admitCall, keepBackChance, presentChance, recordAnswer, startThrottle } from './decide.ts'
import {
  checkThrottle,
  DEFAULT_THROTTLE,
  withThrottleDefaults,
  type ThrottleInput,
  type ThrottlePolicy,
} from './policy.ts'

interface Chance {
  readonly name: string
  readonly source: string
  readonly policy: ThrottleInput
  readonly requests: number
  readonly accepts: number
  readonly chance: number
}

interface Step {
  readonly at: number
  readonly do: 'ask' | 'accepted' | 'refused' | 'look'
  readonly roll?: number
  readonly times?: number
  readonly admitted?: number
  readonly chance?: number
}

interface Case {
  readonly name: string
  readonly policy: ThrottleInput
  readonly steps: readonly Step[]
}

interface Vectors {
  readonly about: string
  readonly defaults: unknown
  readonly chances: readonly Chance[]
  readonly cases: readonly Case[]
}

describe('vectors/throttle.json', () => {
  const url = new URL('../../../../vectors/throttle.json', import.meta.url)
  const { about: _, defaults, chances, cases, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as Vectors

  it('has no field that nobody reads, and the defaults of a throttle', () => {
    assert.deepEqual(rest, {})
    assert.deepEqual(defaults, DEFAULT_THROTTLE)
  })

  for (const { name, source, policy, requests, accepts, chance, ...rest } of chances)
    it(`${source}: ${name}`, () => {
      assert.deepEqual(rest, {})
      assertClose(keepBackChance(completed(policy), { requests, accepts }), chance, name)
    })

  for (const { name, policy: input, steps, ...rest } of cases)
    it(`throttle: ${name}`, () => {
      assert.deepEqual(rest, {})
      const policy = completed(input)
      const window = startThrottle(policy, 0)
      for (const [place, step] of steps.entries()) {
        const { at, do: verb, roll = 0, times = 1, admitted, chance, ...rest } = step
        assert.deepEqual(rest, {})
        let sent = 0
        for (let time = 0; time < times; time++)
          if (verb === 'ask') sent += Number(admitCall(policy, window, { now: at, roll }))
          else if (verb !== 'look') recordAnswer(window, verb, at)
        if (admitted !== undefined) assert.equal(sent, admitted, `step ${place + 1}`)
        if (chance !== undefined) assertClose(presentChance(policy, window, at), chance, `step ${place + 1}`)
      }
    })
})

function completed(input: ThrottleInput): ThrottlePolicy {
  assert.deepEqual(checkThrottle(input), [])
  return withThrottleDefaults(input)
}

function assertClose(is: number, wanted: number, place: string): void {
  assert.ok(Math.abs(is - wanted) < 1e-6, `${place}: ${is}, not ${wanted}`)
}
