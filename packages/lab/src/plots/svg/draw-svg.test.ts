import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { anyPicture, COMPARED, HOSTILE, PICTURES, STORM } from '../pictures.test-kit.ts'
import type { Picture } from '../picture.ts'
import { problemOf } from '../problem.ts'
import { drawSvg } from './draw-svg.ts'
import { COLOURS, styleOf } from './theme.ts'
import { problemOfXml } from './xml.test-kit.ts'

const SHAPES = /^(?:svg|g|title|desc|style|defs|pattern|rect|line|circle|path|text)$/

function tagsOf(svg: string): string[] {
  return [...svg.matchAll(/<([a-zA-Z]+)/g)].map(([, tag]) => tag!)
}

/** Every coordinate that something is drawn at. */
function coordinatesOf(svg: string): { axis: string; value: number }[] {
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg)!
  assert.ok(Number(width) > 0 && Number(height) > 0)
  const drawn = svg.slice(svg.indexOf('</defs>'))
  const attributes = [...drawn.matchAll(/ ((?:c?[xy]|[xy][12])|width|height)="([^"]*)"/g)]
  const named = attributes.map(([, name, value]) => ({
    axis: /y|height/.test(name!) ? 'y' : 'x',
    value: Number(value),
  }))
  const paths = [...drawn.matchAll(/[ML]([-\d.e]+) ([-\d.e]+)/g)].flatMap(([, x, y]) => [
    { axis: 'x', value: Number(x) },
    { axis: 'y', value: Number(y) },
  ])
  return [...named, ...paths]
}

describe('an SVG picture', () => {
  it.each(PICTURES.map(picture => [picture.kind, picture] as const))(
    'of kind %s is well-formed, has a name and a description, and only shapes',
    (_, picture) => {
      const svg = drawSvg(picture)
      assert.equal(problemOfXml(svg), undefined)
      assert.ok(tagsOf(svg).every(tag => SHAPES.test(tag)))
      const [, title, description] = /aria-labelledby="(\S+) (\S+)"/.exec(svg)!
      assert.ok(svg.includes(`<title id="${title}">${picture.title}</title>`))
      assert.match(svg, new RegExp(`<desc id="${description}">[^<]{20,}</desc>`))
    },
  )

  it('stays inside its frame, with finite numbers, whatever is drawn', () => {
    fc.assert(
      fc.property(anyPicture, fc.integer({ min: 320, max: 1_200 }), (picture, width) => {
        const svg = drawSvg(picture, { width })
        const [, right, bottom] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg)!
        for (const { axis, value } of coordinatesOf(svg))
          assert.ok(value >= 0 && value <= Number(axis === 'x' ? right : bottom), `${axis} ${value}`)
        assert.equal(svg.includes('Nothing to draw: '), problemOf(picture) !== undefined)
      }),
      { numRuns: 300 },
    )
  })

  it('holds any name as text, and nothing else', () => {
    fc.assert(
      fc.property(anyPicture, picture => {
        const svg = drawSvg(picture)
        assert.equal(problemOfXml(svg), undefined)
        assert.ok(tagsOf(svg).every(tag => SHAPES.test(tag)))
        assert.ok(!/ on\w+=/.test(svg.replaceAll(/>[^<]*</g, '><')))
      }),
      { numRuns: 300 },
    )
    for (const name of HOSTILE) {
      const series = STORM.series.map(one => ({ ...one, name }))
      assert.equal(problemOfXml(drawSvg({ ...COMPARED, title: name, series: [...series, ...series] })), undefined)
    }
  })

  it('is the same bytes for the same data, and has ids of its own for others', () => {
    assert.equal(drawSvg(STORM), drawSvg(structuredClone(STORM)))
    const idOf = (picture: Picture): string => /id="(plot-[^"]+)-title"/.exec(drawSvg(picture))![1]!
    assert.equal(new Set(PICTURES.map(idOf)).size, PICTURES.length)
  })

  it('follows the reader’s preference and the page’s colours, or has one theme of its own', () => {
    assert.match(drawSvg(STORM), /@media \(prefers-color-scheme:dark\)/)
    assert.ok(drawSvg(STORM).includes(`var(--plot-ink,${COLOURS.light.ink})`))
    const dark = drawSvg(STORM, { theme: 'dark' })
    assert.ok(!dark.includes('@media') && !dark.includes('var(') && dark.includes(COLOURS.dark.ink))
  })

  it('stays small when there are a hundred thousand points', () => {
    const points = Array.from({ length: 100_000 }, (_, index) => ({ atMs: index, share: (index + 1) / 100_000 }))
    assert.ok(drawSvg({ kind: 'cdf', title: 'Many', series: [{ name: 'a', points }] }).length < 50_000)
    const first = points.map(() => 1)
    const many = drawSvg({
      kind: 'arrivals',
      title: 'Many',
      bucketMs: 1,
      series: [{ name: 'a', first, retries: first }],
    })
    assert.ok(many.length < 50_000)
  })
})

describe('colours', () => {
  it.each(['light', 'dark'] as const)('of text and marks have a contrast of 4.5 to a %s page', theme => {
    const { page, line: _, ...others } = COLOURS[theme]
    for (const [name, colour] of Object.entries(others)) {
      const contrast = contrastOf(page, colour)
      assert.ok(contrast >= 4.5, `${name}: ${contrast}`)
    }
  })

  /** WCAG 2.2, relative luminance. */
  function contrastOf(one: string, other: string): number {
    const [dark, light] = [luminance(one), luminance(other)].toSorted((left, right) => left - right)
    return (light! + 0.05) / (dark! + 0.05)
  }

  function luminance(colour: string): number {
    const [red, green, blue] = [1, 3, 5].map(at => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  }

  it('tells twenty-five lines apart, without colours or with them', () => {
    const styles = Array.from({ length: 25 }, (_, index) => styleOf(index))
    assert.equal(new Set(styles.map(style => JSON.stringify(style))).size, 25)
  })

  it('names what is never served where there is room for it, and never across another curve', () => {
    const served = [0.5, 0.51, 0.9].map(share => ({ name: `${share}`, points: [{ atMs: 1, share }] }))
    const svg = drawSvg({ kind: 'cdf', title: 'Shares', series: served })
    assert.deepEqual(
      Array.from(svg.matchAll(/>([\d.]+ %) never<\/text>/g), ([, share]) => share),
      ['49 %', '10 %'],
    )
  })
})
