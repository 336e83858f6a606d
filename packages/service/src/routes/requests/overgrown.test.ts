import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEEPEST, MOST_PARTS, namesIn } from './overgrown.ts'

const isOvergrown = (text: string): boolean => namesIn(text) === undefined

const nested = (depth: number, inside: string): string =>
  `${'[{"a":'.repeat(depth / 2)}${inside}${'}]'.repeat(depth / 2)}`

describe('a text that is overgrown', () => {
  it('is known by its brackets, whatever stands in its strings', () => {
    const text = fc.string({ unit: fc.constantFrom('[', '{', ']', '"', '\\', 'a') })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), text, (pairs, inside) => {
        const string = JSON.stringify(inside)
        assert.equal(isOvergrown(`[${string},${nested(2 * pairs, string)}]`), 2 * pairs + 1 > DEEPEST)
      }),
    )
  })

  it('is nested as deep as it is, and not as long: what is closed counts no more', () => {
    assert.equal(isOvergrown(nested(DEEPEST, '0')), false)
    assert.equal(isOvergrown(nested(DEEPEST, '[]')), true)
    assert.equal(isOvergrown(`[${'[],{},'.repeat(1_000)}0]`), false)
  })

  it('has more parts than anything, whichever they are; what stands in its strings are none', () => {
    for (const part of ['0', '[]', '{}', '"a"', '"a":0']) {
      const most = part.endsWith(']') || part.endsWith('}') ? MOST_PARTS / 2 : MOST_PARTS
      assert.equal(isOvergrown(`[${`${part},`.repeat(most - 1)}0]`), false, part)
      assert.equal(isOvergrown(`[${`${part},`.repeat(most)}0]`), true, part)
    }
    assert.equal(isOvergrown(JSON.stringify(',[{'.repeat(MOST_PARTS))), false)
  })

  it('may be no JSON at all', () => {
    for (const text of ['"', '"\\', '"\\"', ']]]', '', '\\"['.repeat(100)]) assert.equal(isOvergrown(text), false, text)
  })
})
