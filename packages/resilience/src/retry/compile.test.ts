import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { InvalidPolicyError } from '../errors.ts'
import { compilePolicy } from './compile.ts'
import type { RetryPolicyInput } from './policy.ts'

describe('a compiled policy', () => {
  it('is found again for what is the same, whatever the order of its fields', () => {
    const compiled = compilePolicy({ maxAttempts: 2, initialDelayMs: 7 })
    assert.equal(compilePolicy({ maxAttempts: 2, initialDelayMs: 7 }), compiled)
    assert.equal(compilePolicy({ initialDelayMs: 7, maxAttempts: 2 }), compiled)
    assert.notEqual(compilePolicy({ maxAttempts: 2, initialDelayMs: 8 }), compiled)
  })

  it('is not found for fields that are inherited or hidden', () => {
    const base = { maxAttempts: 1 }
    const compiled = compilePolicy(base)
    const hidden = Object.defineProperty({ retries: 5 }, 'maxAttempts', { value: 1, enumerable: false })
    for (const wrong of [Object.assign(Object.create(base) as object, { retries: 5 }), hidden] as object[])
      assert.throws(() => compilePolicy(wrong), InvalidPolicyError)
    const own = Object.assign(Object.create(base) as object, { initialDelayMs: 5 })
    assert.notEqual(compilePolicy(own), compiled)
    assert.notEqual(compilePolicy(Object.create(base) as object), compiled)
  })

  it('is not found for a field of another name, though it is undefined', () => {
    compilePolicy({ maxAttempts: 1 })
    assert.throws(() => compilePolicy({ attempts: undefined } as RetryPolicyInput), InvalidPolicyError)
  })

  it('is not found for what is no record', () => {
    compilePolicy({})
    for (const wrong of [() => 1, [], 'text', 5, null])
      assert.throws(() => compilePolicy(wrong as RetryPolicyInput), InvalidPolicyError)
  })
})
