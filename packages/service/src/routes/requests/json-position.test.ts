import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { whereJsonFails } from './json-position.ts'

describe('the place where a text stops being JSON', () => {
  const offsetOf = (text: string): number => whereJsonFails(text).offset

  it('is the first character that cannot follow', () => {
    assert.equal(offsetOf('{"a":1,}'), 7)
    assert.equal(offsetOf('[1,]'), 3)
    assert.equal(offsetOf('[1 2]'), 3)
    assert.equal(offsetOf('{"a" 1}'), 5)
    assert.equal(offsetOf('{"a":hello}'), 5)
    assert.equal(offsetOf('{"a":1} x'), 8)
    assert.equal(offsetOf('{a:1}'), 1)
    assert.equal(offsetOf("['a']"), 1)
    assert.equal(offsetOf('[01]'), 2)
    assert.equal(offsetOf('[1]]'), 3)
    assert.equal(offsetOf('\ufeff{}'), 0)
  })

  it('is inside of a string that holds what a string must not', () => {
    assert.equal(offsetOf('{"a":"b\nc"}'), 7)
    assert.equal(offsetOf(String.raw`["\x"]`), 2)
    assert.equal(offsetOf(String.raw`["\u12g4"]`), 2)
  })

  it('is the end where something is missing', () => {
    for (const text of ['', '{', '[1,2', '{"a":', '"abc', '{"a":1']) assert.equal(offsetOf(text), text.length)
  })

  it('is told in lines and columns, which begin at 1', () => {
    const { offset, line, column } = whereJsonFails('{\n  "a": 1,\n  b: 2\n}')
    assert.deepEqual([offset, line, column], [14, 3, 3])
  })

  it('comes with what must stand there, but in the middle of a text', () => {
    const wanted = (text: string) => whereJsonFails(text).wanted
    assert.equal(wanted('{"a":1,}'), 'a name in double quotes')
    assert.equal(wanted("{'a':1}"), 'a name in double quotes or }')
    assert.equal(wanted('{"a" 1}'), 'a colon')
    assert.equal(wanted('{"a":'), 'a value')
    assert.equal(wanted('[x'), 'a value or ]')
    assert.equal(wanted('[1,]'), 'a value')
    assert.equal(wanted('{"a":[1 2]}'), 'a comma or ]')
    assert.equal(wanted('{"a":[1]'), 'a comma or }')
    assert.equal(wanted('{} x'), 'the end')
    assert.equal(wanted('{"a":"b\nc"}'), undefined)
  })

  it('is found wherever a stray character is put between two lines of any document', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(), (value, pick) => {
        const text = JSON.stringify([value, 0], null, 1)
        // A line break within a string is escaped: every real one lies between two tokens.
        const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index)
        const at = breaks[pick % breaks.length]! + 1
        assert.equal(offsetOf(`${text.slice(0, at)}@${text.slice(at)}`), at)
      }),
    )
  })

  it('is found in a deep and in a long text without running out of room', () => {
    assert.equal(offsetOf('['.repeat(200_000)), 200_000)
    assert.equal(offsetOf(`["${String.raw`\n`.repeat(100_000)}",]`), 200_004)
  })
})
