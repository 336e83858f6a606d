import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { blank } from './blank.ts'

/** What is left of a source, runs of spaces shortened to one. */
const left = (source: string): string => blank(source).replaceAll(/ +/g, ' ')

describe('blanking', () => {
  it('removes comments', () => {
    assert.equal(left('a // Date\nb'), 'a \nb')
    assert.equal(left('a /* Date\n Date */ b'), 'a \n b')
  })

  it('empties strings, and is not ended early by an escaped quote', () => {
    assert.equal(left(`f('Date', "it's", 'it\\'s')`), `f(' ', " ", ' ')`)
  })

  it('takes what looks like a comment in a string for text', () => {
    assert.equal(left(`f('http://x') + Date`), `f(' ') + Date`)
  })

  it('empties templates but keeps the code in them, however deep', () => {
    assert.equal(left('`Date ${now({ a: `x ${Date} y` })} Date` + Date'), '` ${now({ a: ` ${Date} ` })} ` + Date')
  })

  it('empties regular expressions and leaves divisions alone', () => {
    assert.equal(left(`x = /['"\`/]Date/g; Date`), 'x = / g; Date')
    assert.equal(left('a / Date / b'), 'a / Date / b')
    assert.equal(left('f(a)[0] / Date / 2'), 'f(a)[0] / Date / 2')
    assert.equal(left('return /[/]Date/.test(a)'), 'return / /.test(a)')
  })

  it('is not confused by an apostrophe without a partner', () => {
    assert.equal(left(`<p>don't</p>\nDate`), `<p>don't</p>\nDate`)
  })

  it('keeps every line, and every character it leaves, in its place, whatever the source', () => {
    const pieces = [
      'a',
      ' ',
      '\n',
      "'",
      '"',
      '`',
      '\\',
      '/',
      '*',
      '//',
      '/*',
      '*/',
      '{',
      '}',
      '${',
      '[',
      ']',
      '=',
      '(',
      ')',
    ]
    const source = fc.array(fc.constantFrom(...pieces)).map(chosen => chosen.join(''))
    fc.assert(
      fc.property(source, text => {
        const blanked = blank(text)
        assert.equal(blanked.length, text.length)
        for (let at = 0; at < text.length; at++)
          assert.ok(blanked[at] === text[at] || (blanked[at] === ' ' && text[at] !== '\n'))
      }),
    )
  })
})
