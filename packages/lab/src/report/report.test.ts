import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { HOSTILE, PICTURES, STORM } from '../plots/pictures.test-kit.ts'
import { problemOfXml } from '../plots/svg/xml.test-kit.ts'
import { reportHtml, type ReportInput } from './report.ts'
import { SCRIPT } from './script.ts'
import { stopsOf } from './stops.ts'

function report(name: string): ReportInput {
  return {
    title: name,
    verdict: { kind: 'bad', say: name },
    facts: [{ name, value: name, note: name }],
    sections: [
      ...PICTURES.map(picture => ({ heading: name, text: name, picture: { ...picture, title: name } })),
      { heading: name, table: { columns: [name, name], rows: [[name, name]] } },
    ],
    next: [name],
    origin: name,
  }
}

/** Its body as XML: what HTML alone allows is not used there. */
function bodyOf(html: string): string {
  return html.slice(html.indexOf('<main>'), html.indexOf('</main>') + '</main>'.length)
}

describe('a report', () => {
  it('is one file that loads nothing', () => {
    const html = reportHtml(report('Outage'))
    assert.match(html, /Content-Security-Policy" content="default-src 'none';/)
    assert.ok(!/\b(?:src|href)=|@import|url\((?!#)|fetch\(|XMLHttpRequest/.test(html))
    assert.deepEqual(
      html.match(/https?:[^"'\s<]+/g)!.filter(address => address !== 'http://www.w3.org/2000/svg'),
      [],
    )
  })

  it('is the same bytes for the same results', () => {
    assert.equal(reportHtml(report('Outage')), reportHtml(structuredClone(report('Outage'))))
  })

  it('holds hostile names as text', () => {
    const plain = reportHtml(report('Outage'))
    const tags = (html: string): number => html.match(/<\/?[a-z]/g)!.length
    for (const name of HOSTILE) {
      const html = reportHtml(report(name))
      assert.equal(problemOfXml(bodyOf(html)), undefined, name)
      assert.ok(tags(html) <= tags(plain), name)
    }
  })

  it('says its verdict first, then the facts, and what to try at the end', () => {
    const html = reportHtml({ ...report('Outage'), verdict: { kind: 'bad', say: 'It does not hold.' } })
    const order = ['It does not hold.', '<dl', '<figure', 'Try next', '<footer'].map(part => html.indexOf(part))
    assert.ok(order[0]! > 0)
    assert.deepEqual(
      order,
      order.toSorted((left, right) => left - right),
    )
  })

  it('has a table of values beside each picture over time, and a sentence where there is no picture', () => {
    const html = reportHtml({
      title: 'Two',
      verdict: { kind: 'neither', say: 'Nothing.' },
      facts: [],
      sections: [
        { heading: 'One', picture: STORM },
        { heading: 'None', picture: { ...STORM, series: [] } },
      ],
    })
    assert.equal(html.match(/<figure class="live">/g)!.length, 1)
    assert.ok(html.includes('<th scope="row">3 s</th><td>100/s</td><td>400/s</td>'))
    assert.ok(html.includes('Nothing to draw: there are no data.'))
  })
})

describe('the script of a report', () => {
  it('shows five lines at first, from the first to the last, and all where there are no more', () => {
    const [, rule] = /const shownAtFirst = (.*)\n/.exec(SCRIPT)!
    const shown = (count: number): number[] =>
      // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the script is a text, for browsers
      [...(new Function('names', `return ${rule}`) as (names: unknown[]) => Set<number>)(Array.from({ length: count }))]
    assert.deepEqual(shown(20), [0, 5, 10, 14, 19])
    for (const count of [2, 3, 4, 5]) assert.equal(shown(count).length, count)
    assert.match(SCRIPT, /checked: shownAtFirst\.has\(index\)/)
    assert.match(SCRIPT, /'Shown, at first ' \+ shownAtFirst\.size \+ ' of ' \+ names\.length/)
  })
})

describe('the stops of a picture', () => {
  it('of arrivals are its steps, with the kinds of calls that there are, numbered as in the picture', () => {
    const { series, stops } = stopsOf({ ...STORM, series: [{ name: 'a', first: [2], retries: [0], hedges: [1] }] })!
    assert.deepEqual(series, [
      { name: 'first attempts', index: 0 },
      { name: 'hedges', index: 2 },
    ])
    assert.deepEqual(stops, [{ place: 0.5, say: '0 ms', values: ['2/s', '1/s'] }])
  })

  it('of a tier say whose first attempts they are', () => {
    assert.equal(stopsOf({ ...STORM, firstAttemptsOf: 'api' })!.series[0]!.name, 'first attempts of api')
  })

  it('of a distribution say what is served by then, also on an axis of factors', () => {
    const points = [1, 10, 100].map((atMs, index) => ({ atMs, share: (index + 1) / 3 }))
    const { stops } = stopsOf({ kind: 'cdf', title: 'a', scale: 'log', series: [{ name: 'a', points }] })!
    assert.deepEqual(stops[50], { place: 0.5, say: '10 ms', values: ['66.7 %'] })
    assert.equal(stops.at(-1)!.values[0], '100 %')
  })

  it('are none where shapes say themselves what they are', () => {
    const kinds = PICTURES.filter(picture => stopsOf(picture) !== undefined).map(({ kind }) => kind)
    assert.deepEqual(kinds, ['arrivals', 'arrivals', 'deliveries', 'cdf'])
  })
})
