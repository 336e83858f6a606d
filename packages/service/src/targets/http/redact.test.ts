import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { Blotter } from './redact.ts'
import { WordSearch } from './word-search.ts'

const MARK = '[redacted]'
/** Few letters, so that secrets overlap, repeat and hold one another. */
const few = (lengths: { minLength: number; maxLength: number }): fc.Arbitrary<string> =>
  fc.string({ ...lengths, unit: fc.constantFrom('a', 'b', 'é') })

describe('a search for words', () => {
  it('covers every character that is part of one, and no other', () => {
    const words = fc.array(few({ minLength: 1, maxLength: 5 }), { maxLength: 6 })
    fc.assert(
      fc.property(words, few({ minLength: 0, maxLength: 30 }), fc.boolean(), (sought, text, isCut) => {
        const covered = Array.from({ length: text.length }, () => false)
        for (const word of sought)
          for (let at = 0; at < text.length; at++) {
            const isHere = text.startsWith(word, at) || (isCut && word.startsWith(text.slice(at)))
            if (isHere) covered.fill(true, at, at + word.length)
          }
        const found = Array.from({ length: text.length }, () => false)
        for (const { start, end } of new WordSearch(sought).spansIn(text, isCut)) found.fill(true, start, end)
        assert.deepEqual(found, covered)
      }),
    )
  })
})

describe('what is blotted out', () => {
  const blotted = (value: string, text: string, isCut = false): string =>
    new Blotter({ 'x-token': value }).text(text, isCut)

  it('is every secret that was sent, as a whole and by its parts, wherever it stands', () => {
    const parts = fc.array(few({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 12 })
    const around = fc.array(fc.oneof(few({ minLength: 0, maxLength: 12 }), fc.integer({ min: 0, max: 12 })))
    fc.assert(
      fc.property(parts, around, fc.boolean(), (sent, pieces, isCut) => {
        const secrets = [sent.join(', '), ...sent].filter(({ length }) => length >= 8)
        const text = pieces.map(piece => (typeof piece === 'number' ? (secrets[piece] ?? '') : piece)).join('')
        const kept = blotted(sent.join(', '), text, isCut).split(MARK)
        for (const rest of kept) for (const secret of secrets) assert.ok(!rest.includes(secret), `${secret} in ${rest}`)
        if (secrets.every(secret => !text.includes(secret)) && !isCut) assert.equal(kept[0], text)
      }),
    )
  })

  it('is of two that overlap all of both', () => {
    assert.equal(blotted('abcdefgh,efghijkl', 'x abcdefghijkl y'), `x ${MARK} y`)
  })

  it('is the beginning of one at the end of a text that was cut, however long it is', () => {
    const long = 'k'.repeat(9_000)
    assert.equal(blotted(long, `x ${long.slice(0, 8_000)}`, true), `x ${MARK}`)
    assert.equal(blotted('tok-12345678', 'x tok-123', true), `x ${MARK}`)
    assert.equal(blotted('tok-12345678', 'x tok-123', false), 'x tok-123')
  })

  it('is not looked for in its own mark: a text does not grow with the number of secrets', () => {
    const text = 'redacted '.repeat(100)
    assert.equal(blotted(Array.from({ length: 1_700 }, () => 'redacted').join(','), text), `${MARK} `.repeat(100))
    assert.equal(blotted('redacted, [redacted', text), `${MARK} `.repeat(100))
  })

  it('is everything, where more was sent than is looked for', () => {
    assert.equal(blotted('k'.repeat(60_000), 'harmless'), MARK)
  })
})
