import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEEPEST, isOvergrown, MOST_PARTS, splitList } from './json-body.ts'

const nested = (depth: number, inside: string): string =>
  `${'[{"a":'.repeat(depth / 2)}${inside}${'}]'.repeat(depth / 2)}`

describe('a text that is overgrown', () => {
  it('is known by its brackets, whatever stands in its strings', () => {
    const text = fc.string({ unit: fc.constantFrom('[', '{', ']', '"', '\\', ',', 'a') })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), text, (pairs, inside) => {
        const string = JSON.stringify(inside)
        assert.equal(isOvergrown(`[${string},${nested(2 * pairs, string)}]`), 2 * pairs + 1 > DEEPEST)
      }),
    )
  })

  it('is nested as deep as it is, and not as long: a closed bracket counts no more', () => {
    assert.equal(isOvergrown(nested(DEEPEST, '0')), false)
    assert.equal(isOvergrown(nested(DEEPEST, '[]')), true)
    assert.equal(isOvergrown(`[${'[],{},'.repeat(1_000)}0]`), false)
  })

  it('has more names and items than any task; commas and brackets in its strings are not counted', () => {
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

describe('a list that is split', () => {
  it('has the items that JSON says it has', () => {
    const indent = fc.constantFrom(undefined, 1, '\t')
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 9 }), indent, (list, space) => {
        const items = splitList(` ${JSON.stringify(list, null, space)}\r\n`, 9)
        assert.deepEqual(
          items?.map(item => JSON.parse(item) as unknown),
          JSON.parse(JSON.stringify(list)),
        )
      }),
    )
  })

  it('does not end, or goes on behind its end: then it is none', () => {
    for (const text of ['[', '[1', '[[1]', '["]', '[1]]', '[1],[2]', '[1] 2', '[1]\u00a0'])
      assert.equal(splitList(text, 9), undefined, text)
  })

  it('has one item too many, whatever follows', () => {
    assert.equal(splitList(`[${'{},'.repeat(1_000)}`, 9)?.length, 10)
  })
})
