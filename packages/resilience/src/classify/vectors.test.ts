import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import { classifyError } from './classify-error.ts'
import type { Outcome } from './outcome.ts'
import { classifyStatus } from './status.ts'

describe('vectors/classify.json', () => {
  interface Case {
    readonly name: string
    readonly retryableStatusCodes?: readonly number[]
    readonly outcome: Outcome
  }
  interface File {
    readonly about: string
    readonly now: number
    readonly retryableStatusCodes: readonly number[]
    readonly statuses: readonly (Case & { readonly status: number; readonly retryAfterMs?: number })[]
    readonly errors: readonly (Case & { readonly error: unknown })[]
  }
  const url = new URL('../../../../vectors/classify.json', import.meta.url)
  const {
    about: _,
    now,
    retryableStatusCodes,
    statuses,
    errors,
    ...rest
  } = JSON.parse(readFileSync(url, 'utf8')) as File

  it('has no field that nobody reads, and the retryable statuses of the default policy', () => {
    assert.deepEqual(rest, {})
    assert.deepEqual(retryableStatusCodes, DEFAULT_POLICY.retryableStatusCodes)
  })

  for (const {
    name,
    status,
    retryAfterMs,
    outcome,
    retryableStatusCodes: codes = retryableStatusCodes,
    ...rest
  } of statuses)
    it(`status: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual(classifyStatus(status, codes, retryAfterMs), outcome)
    })

  for (const { name, error, outcome, retryableStatusCodes: codes = retryableStatusCodes, ...rest } of errors)
    it(`error: ${name}`, () => {
      assert.deepEqual(rest, {})
      assert.deepEqual(classifyError(error, codes, now), outcome)
    })
})
