import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { element, pathThrough, text } from './element.ts'

describe('an element', () => {
  it('closes itself without children, and leaves out what is undefined', () => {
    assert.equal(element('rect', { x: 1.26, rx: undefined, class: 'a' }), '<rect x="1.3" class="a"/>')
  })

  it('lets no attribute and no text become markup', () => {
    assert.equal(element('g', { class: '"><b a=\'' }), '<g class="&quot;&gt;&lt;b a=&#39;"/>')
    assert.equal(text('a & <b>\u0000\uD800', {}), '<text>a &amp; &lt;b&gt;</text>')
  })

  it('writes numbers to a tenth of a pixel, and never a negative zero', () => {
    assert.equal(
      pathThrough([
        [-0.01, 1.04],
        [2.25, 1e3],
      ]),
      'M0 1L2.3 1000',
    )
  })
})
