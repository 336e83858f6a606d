import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { guarded, visible, visibleLines } from './visible.ts'

/** Whatever a terminal would obey. */
// oxlint-disable-next-line no-control-regex -- it is about them
const OBEYED = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

describe('what comes from elsewhere', () => {
  it('is shown, and never obeyed', () => {
    assert.equal(
      visible('a\u001B]0;b\u0007\r\nc\td\u009B2J\u202Ee\u2069\u007F'),
      String.raw`a\x1b]0;b\x07\x0d\x0ac\x09d\u009b2J\u202ee\u2069\u007f`,
    )
    fc.assert(fc.property(fc.string({ unit: 'binary' }), text => assert.doesNotMatch(visible(text), OBEYED)))
  })

  it('keeps every letter, the marks of other scripts too', () => {
    for (const text of ['naïve ✓ 東京 नमस्ते שלום', '👩‍🚀', 'a\\x1b']) assert.equal(visible(text), text)
  })

  it('keeps lines and our own colours in a text of several lines, and no other sequence', () => {
    assert.equal(visibleLines('a\n\tb'), 'a\n\tb')
    assert.equal(visibleLines('\u001B[2mdim\u001B[22m'), '\u001B[2mdim\u001B[22m')
    assert.equal(visibleLines('\u001B[8mhidden\u001B[2J\r'), String.raw`\x1b[8mhidden\x1b[2J\x0d`)
  })
})

describe('a guarded terminal', () => {
  const written = (text: string): string => {
    const texts: string[] = []
    guarded({ write: data => void texts.push(data), writeOrLose: () => undefined, tell: () => undefined }).write(text)
    return texts.join('')
  }

  it('draws anew where this program begins to write, and nowhere else', () => {
    assert.equal(written('\u001B[3A\u001B[Jpage\n'), '\u001B[3A\u001B[Jpage\n')
    assert.equal(written('\r\u001B[Kbar'), '\r\u001B[Kbar')
    assert.equal(written('page\u001B[3A\u001B[J'), String.raw`page\x1b[3A\x1b[J`)
  })

  it('leaves a JSON document the same document', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        const document = written(JSON.stringify({ text }, undefined, 2))
        assert.deepEqual(JSON.parse(document), { text })
        assert.doesNotMatch(document.replaceAll('\n', ''), OBEYED)
      }),
    )
  })
})
