import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { cursorOf } from './cursor.ts'
import { InvalidCursorError } from './store-errors.ts'

const places = cursorOf('places', 'number', 'string')

describe('a cursor', () => {
  it('is text that can stand in an address, and leads back to its place', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).filter(number => !Object.is(number, -0))
    fc.assert(
      fc.property(finite, fc.string({ unit: 'binary' }), (number, text) => {
        const written = places.write([number, text])
        assert.match(written, /^[\w-]+$/)
        assert.deepEqual(places.read(written), [number, text])
      }),
    )
  })

  it('is refused when it is any other text', () => {
    fc.assert(fc.property(fc.string(), text => assert.throws(() => places.read(text), InvalidCursorError)))
    const written = places.write([1, 'a'])
    for (const more of ['!', '!!', '=', '.', 'A', ' ', '\n'])
      assert.throws(() => places.read(written + more), InvalidCursorError, more)
    const turned = cursorOf('places', 'string', 'number').write(['a', 1])
    assert.throws(() => places.read(turned), { code: 'invalid-cursor' })
    assert.throws(() => places.read(cursorOf('others', 'number', 'string').write([1, 'a'])), InvalidCursorError)
    assert.throws(() => places.read(cursorOf('places', 'number').write([1])), InvalidCursorError)
  })

  it('that is refused says what to do, and does not repeat what it was given', () => {
    assert.throws(
      () => places.read('<script>'),
      /^InvalidCursorError: this is no cursor of places; pass the nextCursor/,
    )
  })
})
