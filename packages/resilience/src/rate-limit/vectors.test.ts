import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { fullBucket, giveBack, reserve, type Bucket } from './decide.ts'
import { checkRateLimit, type RateLimitPolicy } from './policy.ts'

type Step =
  | { readonly at: number; readonly do: 'give-back'; readonly of: number }
  | {
      readonly at: number
      readonly do: 'reserve'
      readonly deadlineAt?: number
      readonly startsAt: readonly (number | null)[]
      readonly until?: number
    }

interface Case {
  readonly name: string
  readonly policy: RateLimitPolicy
  readonly steps: readonly Step[]
}

describe('vectors/rate-limit.json', () => {
  const url = new URL('../../../../vectors/rate-limit.json', import.meta.url)
  const { about: _, cases, ...rest } = JSON.parse(readFileSync(url, 'utf8')) as { about: string; cases: Case[] }

  it('has no field that nobody reads', () => assert.deepEqual(rest, {}))

  for (const { name, policy, steps, ...rest } of cases)
    it(`rate limit: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual(checkRateLimit(policy), [])
      const bucket = fullBucket(policy, steps[0]!.at)
      for (const [place, step] of steps.entries()) takeStep(policy, bucket, step, `step ${place + 1}`)
    })
})

function takeStep(policy: RateLimitPolicy, bucket: Bucket, step: Step, place: string): void {
  if (step.do === 'give-back') {
    const { at, do: _, of, ...rest } = step
    assert.deepEqual(rest, {}, place)
    return giveBack(bucket, of, at)
  }
  const { at: now, do: _, deadlineAt = Infinity, startsAt, until = null, ...rest } = step
  assert.deepEqual(rest, {}, place)
  for (const wanted of startsAt) {
    const answer = reserve(policy, bucket, { now, deadlineAt })
    assert.equal(answer.kind, wanted === null ? 'no' : 'yes', place)
    const told = answer.kind === 'yes' ? answer.at : answer.until
    assert.ok(Math.abs(told - (wanted ?? until)!) < 1e-6, `${place}: ${told}`)
  }
}
