import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { bars, marks } from './chart.ts'
import { coloursFor } from './colours.ts'
import { progressAt } from './progress.ts'
import { introduction, report, standstill, verdict } from './report.ts'
import { SCENARIO } from './scenario.ts'
import { summarize, type Summary } from './statistics.ts'
import { table } from './table.ts'

const plainly = coloursFor({ environment: {} })

function summary(name: string, succeeded: number, arrived: number): Summary {
  const results = Array.from({ length: 1_000 }, (_, index) => ({ succeeded: index < succeeded, tookMs: 7 }))
  return summarize(
    name,
    results,
    Array.from({ length: arrived }, (_, index) => index * 2),
  )
}

const three: readonly [Summary, Summary, Summary] = [
  summary('plain fetch', 733, 1_000),
  summary('naive, 5 tries', 512, 2_730),
  summary('Secondwind', 781, 1_101),
]

describe('the table', () => {
  it('has its figures to the right, under their titles', () => {
    assert.deepEqual(table(three, [text => text, text => text, text => text], 16), [
      '                  succeeded  failed  server saw  peak/s  per call   p50   p95',
      'plain fetch             733     267       1,000     500    1.00 ×  7 ms  7 ms',
      'naive, 5 tries          512     488       2,730     500    2.73 ×  7 ms  7 ms',
      'Secondwind              781     219       1,101     500    1.10 ×  7 ms  7 ms',
    ])
  })

  it('has a dash where nothing succeeded', () => {
    const [, row] = table([summary('nobody', 0, 10)], [text => text], 8)
    assert.match(row!, /– +–$/)
  })
})

describe('the chart', () => {
  it('is as high as its largest value, in eighths of a line', () => {
    assert.deepEqual(bars([0, 1, 4, 8, 16], { most: 16, lines: 2 }), ['    █', ' ▁▄██'])
  })

  it('shows the smallest value that is not nothing', () => {
    assert.deepEqual(bars([0, 1, 1_000], { most: 1_000, lines: 1 }), [' ▁█'])
  })

  it('leaves out a mark that would run into the one before', () => {
    const places = [
      [0, 'zero'],
      [2, 'two'],
      [6, 'six'],
    ] as const
    assert.equal(marks(places), 'zero  six')
  })
})

describe('the verdict', () => {
  it('compares both with no retries at all, and says so when naive retries were the better', () => {
    const [plain, naive, secondwind] = three
    assert.equal(
      verdict(plain, naive, secondwind),
      'Naive retries sent 2.7 times the calls and got 221 fewer answers than no retries at all;\n' +
        'Secondwind sent 1.1 times the calls and got 48 more.',
    )
    assert.match(verdict(naive, plain, secondwind), /221 more answers/)
  })
})

describe('the report', () => {
  const arrivals = three.map(({ arrived }) => Array.from({ length: arrived }, (_, index) => index * 2))

  it('fits a terminal of a hundred columns', () => {
    const lines = `${introduction(plainly)}${report(three, arrivals, plainly)}`.split('\n')
    assert.deepEqual(
      lines.filter(line => line.length > 100),
      [],
    )
  })

  it('marks the outage under its columns', () => {
    const axis = report(three, arrivals, plainly)
      .split('\n')
      .find(line => line.includes('├'))!
    const ends = [SCENARIO.downFromMs, SCENARIO.downUntilMs].map(ms => 16 + ms / 200)
    assert.deepEqual([axis.indexOf('├'), axis.indexOf('┤') + 1], ends)
    assert.ok(axis.includes(' down '))
  })

  it('has colours on a terminal that wants them, and nowhere else', () => {
    const escapes = (terminal: Parameters<typeof coloursFor>[0]): boolean =>
      report(three, arrivals, coloursFor(terminal)).includes('\u001b')
    assert.ok(escapes({ isTTY: true, environment: {} }))
    assert.ok(!escapes({ isTTY: false, environment: {} }))
    assert.ok(!escapes({ isTTY: true, environment: { NO_COLOR: '1' } }))
    assert.ok(!escapes({ isTTY: true, environment: { TERM: 'dumb' } }))
  })
})

describe('a machine that is busy', () => {
  it('is told of, and a quiet one is not', () => {
    assert.equal(standstill(120), '')
    assert.match(standstill(2_512), /stood still for 2\.5 s in all/)
  })
})

describe('the progress', () => {
  it('tells the time of the story and the state of the server', () => {
    assert.equal(progressAt(0), '   0.0 s of 9   all is well')
    assert.equal(progressAt(SCENARIO.downFromMs), '   4.0 s of 9   the server is down')
    assert.equal(progressAt(99_999), '   9.0 s of 9   the server is back, if it is let')
  })
})
