import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Blotter } from './answer.ts'

const MARK = '[redacted]'
/** Few letters, so that secrets overlap, repeat and hold one another. */
const few = (lengths: { minLength: number; maxLength: number }): fc.Arbitrary<string> =>
  fc.string({ ...lengths, unit: fc.constantFrom('a', 'b', 'é') })

describe('what is blotted out', () => {
  const blotted = (value: string, text: string, isCut = false): string =>
    new Blotter({ 'x-token': value }).text(text, isCut)

  it('is every character of every secret that was sent, as a whole and by its parts, and no other', () => {
    const parts = fc.array(few({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 12 })
    const around = fc.array(fc.oneof(few({ minLength: 0, maxLength: 12 }), fc.integer({ min: 0, max: 12 })))
    fc.assert(
      fc.property(parts, around, fc.boolean(), (sent, pieces, isCut) => {
        const secrets = [sent.join(', '), ...sent].filter(({ length }) => length >= 8)
        const text = pieces.map(piece => (typeof piece === 'number' ? (secrets[piece] ?? '') : piece)).join('')
        const isCovered = Array.from({ length: text.length }, () => false)
        for (const secret of secrets)
          for (let at = 0; at < text.length; at++) {
            const isHere = text.startsWith(secret, at) || (isCut && secret.startsWith(text.slice(at)))
            if (isHere) isCovered.fill(true, at, at + secret.length)
          }
        const expected = isCovered.map((covered, at) => (!covered ? text[at] : isCovered[at - 1] ? '' : MARK)).join('')
        assert.equal(blotted(sent.join(', '), text, isCut), expected)
      }),
    )
  })

  it('is of two that overlap all of both', () => {
    assert.equal(blotted('abcdefgh,efghijkl', 'x abcdefghijkl y'), `x ${MARK} y`)
  })

  it('is the beginning of one at the end of a text that was cut, however long it is', () => {
    const long = Array.from({ length: 1_800 }, (_, n) => 10_000 + n).join('')
    assert.equal(blotted(long, `x ${long.slice(0, 8_000)}`, true), `x ${MARK}`)
    assert.equal(blotted('tok-12345678', 'x tok-123', true), `x ${MARK}`)
    assert.equal(blotted('tok-12345678', 'x tok-123', false), 'x tok-123')
  })

  it('is not looked for in its own mark: a text does not grow with the number of secrets', () => {
    const text = 'redacted '.repeat(100)
    assert.equal(blotted(Array.from({ length: 1_700 }, () => 'redacted').join(','), text), `${MARK} `.repeat(100))
    assert.equal(blotted('redacted, [redacted', text), `${MARK} `.repeat(100))
  })

  it('is everything, where more than 64 secrets were sent', () => {
    const secrets = (count: number): string => Array.from({ length: count }, (_, n) => `secret-${n}-x`).join(' ')
    assert.equal(
      blotted(secrets(63), 'harmless, but secret-7-x'),
      `harmless, but ${MARK}`,
      'with the whole they are 64',
    )
    assert.equal(blotted(secrets(64), 'harmless'), MARK)
  })

  it('is everything, where it would take long to find: secret and answer repeat one letter', () => {
    assert.equal(blotted(`${'a'.repeat(8_000)}b`, 'a'.repeat(16_384)), MARK)
    assert.equal(blotted(`${'a'.repeat(100)}b`, `${'a'.repeat(400)}b`), `${'a'.repeat(300)}${MARK}`)
  })
})
