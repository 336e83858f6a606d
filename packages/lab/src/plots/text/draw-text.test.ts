import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { anyPicture, COMPARED, DELIVERED, HOSTILE, PICTURES, STORM } from '../pictures.test-kit.ts'
import type { Picture } from '../picture.ts'
import { problemOf } from '../problem.ts'
import { drawText } from './draw-text.ts'
import { widthOf } from './label.ts'

const SMALL = { columns: 44, rows: 5 } as const

function of(kind: Picture['kind']): Picture {
  return PICTURES.find(picture => picture.kind === kind)!
}

function linesOf(drawn: string): string[] {
  assert.ok(drawn.endsWith('\n'))
  return drawn.slice(0, -1).split('\n')
}

describe('arrivals in a terminal', () => {
  it('of one policy stand on first attempts, retries on top, with the capacity between two rows', () => {
    assert.deepEqual(linesOf(drawText(STORM, SMALL)), [
      'Arrivals, calls/s in columns of 1 s',
      ' █ first attempts  ▒ retries',
      ' ▔ capacity 400/s',
      '     │            ▒▒▒▒▒▒▒▒',
      ' 400 ┤▔▔▔▔▔▔▔▔▔▔▔▔▒▒▒▒▒▒▒▒▒▒▒▒▔▔▔▔▔▔▔▔',
      '     │        ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒',
      ' 200 ┤        ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒',
      '     │████████████████████████████████',
      '     └┬───────┬───────┬───────┬──────┬',
      '      0 s    2 s     4 s     6 s   8 s',
      '              ├─── outage ───┤',
    ])
  })

  it('of two policies lie over each other: solid where both are, each in its own way where it is alone', () => {
    assert.deepEqual(linesOf(drawText(COMPARED, SMALL)), [
      'Arrivals, calls/s in columns of 1 s',
      ' █ both  ░ only five attempts',
      ' ╱ only budget  ▔ capacity 400/s',
      '     │            ░░░░░░░░',
      ' 400 ┤▔▔▔▔▔▔▔▔▔▔▔▔░░░░░░░░░░░░▔▔▔▔▔▔▔▔',
      '     │        ░░░░░░░░░░░░░░░░    ╱╱╱╱',
      ' 200 ┤        ░░░░░░░░░░░░░░░░    ╱╱╱╱',
      '     │████████████████████████████████',
      '     └┬───────┬───────┬───────┬──────┬',
      '      0 s    2 s     4 s     6 s   8 s',
      '              ├─── outage ───┤',
    ])
  })

  it('show by their glyphs alone what a call was, however little of a cell it fills', () => {
    const series = [{ name: 'a', first: [300, 250, 200, 0], retries: [0, 0, 10, 10] }]
    const rowsOf = (ascii: boolean): string[] =>
      linesOf(drawText({ kind: 'arrivals', title: 'Tops', bucketMs: 1_000, series }, { columns: 40, rows: 4, ascii }))
    assert.deepEqual(rowsOf(false).slice(1, 6), [
      ' █ first attempts  ▒ retries',
      ' · a few of them',
      '     │███████▄▄▄▄▄▄▄',
      ' 200 ┤█████████████████████',
      '     │█████████████████████·······',
    ])
    assert.deepEqual(rowsOf(true).slice(2, 6), [
      ' , a few of them',
      '     |##############',
      ' 200 +#####################',
      '     |#####################,,,,,,,',
    ])
  })

  it('of a tier name whose first attempts they are', () => {
    assert.match(drawText({ ...STORM, firstAttemptsOf: 'api' }), /█ first attempts of api {2}▒ retries/)
  })

  it('need nothing but ASCII when asked', () => {
    assert.deepEqual(linesOf(drawText(STORM, { ...SMALL, ascii: true })).slice(1, 8), [
      ' # first attempts  : retries',
      ' - capacity 400/s',
      '     |            ::::::::',
      ' 400 +------------::::::::::::--------',
      '     |        ::::::::::::::::',
      ' 200 +        ::::::::::::::::',
      '     |################################',
    ])
  })

  it('far over capacity draw its line somewhere in the lowest row, and not at an edge where it is not', () => {
    const lines = linesOf(drawText({ ...STORM, capacityPerSecond: 7 }, SMALL))
    assert.equal(lines[2], ' ╌ capacity 7/s')
    assert.ok(!lines.join('').includes('▔'))
    const labels = lines.flatMap(line => /^ *([\d,]+) ┤/.exec(line)?.[1] ?? [])
    assert.deepEqual(labels, ['400', '200'])
  })

  it('show means over more buckets than there are columns, and say how long a column is', () => {
    const first = Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? 100 : 300))
    const drawn = drawText({
      kind: 'arrivals',
      title: 'Long',
      bucketMs: 1_000,
      series: [{ name: 'a', first, retries: [] }],
    })
    assert.match(drawn, /^Long, calls\/s in columns of 9 s\n/)
    assert.ok(!drawn.includes('300'), drawn)
  })

  it('leave out what happened after their end', () => {
    const spans = [{ name: 'later', fromMs: 8_000, untilMs: 9_000 }]
    assert.ok(!drawText({ ...STORM, spans }, SMALL).includes('later'))
  })

  it('of a trickle leave a trace', () => {
    const series = [{ name: 'a', first: [1, 0, 10_000], retries: [] }]
    const lines = linesOf(drawText({ kind: 'arrivals', title: 'Trickle', bucketMs: 1_000, series }, SMALL))
    const bottom = lines.find(line => line.includes('▁'))!
    assert.match(bottom, /[│┤]▁+ +█+$/)
  })

  it('of more than two policies are drawn one below the other', () => {
    const drawn = drawText({ ...STORM, series: ['a', 'b', 'c'].map(name => ({ ...STORM.series[0]!, name })) })
    assert.deepEqual(drawn.match(/^[abc], calls/gm), ['a, calls', 'b, calls', 'c, calls'])
  })

  it('let a terminal give colours', () => {
    const drawn = drawText(STORM, { ...SMALL, paint: (text, ink) => (ink === 'retries' ? `<${text}>` : text) })
    assert.ok(drawn.includes(' <▒> retries'))
    assert.ok(drawn.includes('<▒▒▒▒▒▒▒▒>'))
  })
})

describe('deliveries in a terminal', () => {
  it('have the tasks that wait above, and below their requests over the same axis, failed ones on top', () => {
    assert.deepEqual(linesOf(drawText(DELIVERED, { ...SMALL, rows: 6 })), [
      'Deliveries, in columns of 1 s',
      ' █ above: tasks that wait',
      ' █ below: requests/s answered  ▒ failed',
      ' · a few of them  ▔ capacity 200/s',
      ' 200 ┤                ▄▄▄▄████',
      '     │        ▄▄▄▄████████████▃▃▃▃',
      '     │',
      ' 300 ┤                        ▁▁▁▁',
      '     │▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔████▔▔▔▔',
      ' 100 ┤▄▄▄▄▄▄▄▄················████▇▇▇▇',
      '     └┬───────┬───────┬───────┬──────┬',
      '      0 s    2 s     4 s     6 s   8 s',
      '              ├──── down ────┤',
    ])
  })

  it('leave out a capacity that there is not, and need nothing but ASCII when asked', () => {
    const { capacityPerSecond: _, ...unlimited } = DELIVERED
    const drawn = drawText(unlimited, { ...SMALL, ascii: true })
    assert.ok(!drawn.includes('capacity'))
    assert.match(drawn, /^[\n -~]*$/)
  })
})

describe('other pictures in a terminal', () => {
  it('a distribution has a letter for each policy, and says what is never served', () => {
    assert.deepEqual(linesOf(drawText(of('cdf'), { ...SMALL, rows: 4 })), [
      'Served by a time: share served by a time',
      ' A full: all served',
      ' B none: 20 % served, 80 % never',
      ' 100 % ┤                                   A',
      '  75 % ┤                 AAAAAAAAAAAAAAAAAA',
      '  50 % ┤        AAAAAAAAA',
      '  25 % ┤    AAAA                           B',
      '   0 % ┤****BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB',
      '       └┬────────┬────────┬────────┬────────',
      '        0 ms  100 ms   200 ms   300 ms',
    ])
  })

  it('delay bands have a line for each attempt', () => {
    assert.deepEqual(linesOf(drawText(of('delay-bands'), SMALL)), [
      'Default policy: time since the first',
      'attempt, log',
      ' █ median  ▒ middle half  ─ nine of ten',
      ' ● seen  │ deadline 2 s',
      ' attempt 2 ┤      ───────▒▒▒█▒▒─           │',
      ' attempt 3 ┤                ───▒▒█▒─ ●     │',
      '           └┬─────────┬────────┬─────────┬──',
      '            1 ms    10 ms   100 ms      1 s',
    ])
  })

  it('a ruler shows plan, attempts and holds of one operation', () => {
    assert.deepEqual(linesOf(drawText(of('backoff-ruler'), SMALL)).slice(-5), [
      '   plan 2 ┤          ─────                 │',
      ' attempts ┤✕                        ✓  ▲   │',
      '     held ┤             ▒▒▒▒▒▒▒▒▒▒▒▒       │',
      '          └┬─────────────┬──────────────┬───',
      '           10 ms      100 ms           1 s',
    ])
  })

  it('a heatmap has first attempts at the bottom, and shows some where there is some', () => {
    assert.deepEqual(linesOf(drawText(of('attempt-heatmap'), SMALL)).slice(-4, -2), [
      ' attempt 2 ┤        ░░░░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓',
      ' attempt 1 ┤████████████████████████████████',
    ])
  })

  it('a tree says where a factor comes from', () => {
    assert.deepEqual(linesOf(drawText(of('tier-tree'), SMALL)).slice(-4), [
      ' edge                                    1 ×',
      ' ├─ up to 3 ─► api                       3 ×',
      ' │  └─ up to 3 ─► db                     9 ×',
      ' └─ up to 2 ─► cache                     2 ×',
    ])
  })
})

describe('any picture in a terminal', () => {
  it('is never wider than asked, whatever its names and numbers', () => {
    fc.assert(
      fc.property(anyPicture, fc.integer({ min: 40, max: 160 }), fc.boolean(), (picture, columns, ascii) => {
        for (const line of linesOf(drawText(picture, { columns, ascii })))
          assert.ok(widthOf(line) <= columns, `${widthOf(line)} > ${columns}: ${line}`)
      }),
      { numRuns: 400 },
    )
  })

  it('is no wider either where a rate has an exponent of two digits', () => {
    const series = [{ name: 'rare', first: [], retries: [498] }]
    for (const line of linesOf(drawText({ kind: 'arrivals', title: '', bucketMs: 1e15, series }, { columns: 40 })))
      assert.ok(widthOf(line) <= 40, line)
  })

  it('is a sentence instead of half a picture when its data are none', () => {
    fc.assert(
      fc.property(anyPicture, picture => {
        const drawn = drawText(picture)
        assert.equal(drawn.includes('Nothing to draw: '), problemOf(picture) !== undefined)
      }),
      { numRuns: 400 },
    )
  })

  it('says what is wrong', () => {
    const sentence = (picture: Partial<typeof STORM>): string => linesOf(drawText({ ...STORM, ...picture }))[1]!
    assert.equal(sentence({ series: [] }), 'Nothing to draw: there are no data.')
    assert.equal(sentence({ bucketMs: 0 }), 'Nothing to draw: the length of a bucket is no time.')
    assert.equal(
      sentence({ series: [{ name: 'a', first: [1, NaN], retries: [] }] }),
      'Nothing to draw: a count is not a number from 0 to 10^15.',
    )
  })

  it('lets no name reach the terminal with control characters, nor with more than ASCII when asked', () => {
    for (const name of HOSTILE) {
      const drawn = drawText({ ...STORM, title: name, spans: [{ name, fromMs: 0, untilMs: 1 }] })
      // oxlint-disable-next-line no-control-regex
      assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/.test(drawn), JSON.stringify(drawn))
      assert.match(drawText({ ...STORM, title: name }, { ascii: true }), /^[\n -~]*$/)
    }
  })
})
