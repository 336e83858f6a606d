import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEEPEST, isNestedTooDeep } from './overgrown.ts'

const nested = (depth: number, inside: string): string =>
  `${'[{"a":'.repeat(depth / 2)}${inside}${'}]'.repeat(depth / 2)}`

describe('a text that is nested too deep', () => {
  it('is known by its brackets, whatever stands in its strings', () => {
    const text = fc.string({ unit: fc.constantFrom('[', '{', ']', '"', '\\', 'a') })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), text, (pairs, inside) => {
        const string = JSON.stringify(inside)
        assert.equal(isNestedTooDeep(`[${string},${nested(2 * pairs, string)}]`), 2 * pairs + 1 > DEEPEST)
      }),
    )
  })

  it('is nested as deep as it is, and not as long: what is closed counts no more', () => {
    assert.equal(isNestedTooDeep(nested(DEEPEST, '0')), false)
    assert.equal(isNestedTooDeep(nested(DEEPEST, '[]')), true)
    assert.equal(isNestedTooDeep(`[${'[],{},'.repeat(1_000)}0]`), false)
  })

  it('may be no JSON at all', () => {
    for (const text of ['"', '"\\', '"\\"', ']]]', '', '\\"['.repeat(100)])
      assert.equal(isNestedTooDeep(text), false, text)
  })
})
