/** The picture of the README: two panels of columns, one for each second, in the colours of a light or a dark page. */
import { CALLS_PER_SECOND, DOWN_FROM_S, DOWN_UNTIL_S, SECONDS, type Second } from './outage.ts'

export type Theme = 'light' | 'dark'

/** Orange and teal: told apart with every kind of colour-blindness, and by their brightness in print. */
const COLOURS = {
  light: {
    page: '#ffffff',
    ink: '#1f2933',
    quiet: '#5d6873',
    line: '#dde2e7',
    down: '#f4f1ea',
    first: '#aab4be',
    without: '#d9650b',
    within: '#0f766e',
  },
  dark: {
    page: '#0d1117',
    ink: '#e6edf3',
    quiet: '#9aa5b1',
    line: '#2a323c',
    down: '#1b2029',
    first: '#5c6773',
    without: '#f59542',
    within: '#2dc7b5',
  },
} as const

const WIDTH = 960
const HEIGHT = 430
const PANEL = { width: 405, top: 132, bottom: 346 }
const LEFTS = [76, 532] as const
const MIDDLE = (PANEL.top + PANEL.bottom) / 2
const MAX_CALLS = 6_000

interface Panel {
  readonly left: number
  readonly colour: string
  readonly title: string
  readonly subtitle: string
  readonly seconds: readonly Second[]
}

export function drawOutage(theme: Theme, without: readonly Second[], within: readonly Second[]): string {
  const colours = COLOURS[theme]
  const panels: readonly Panel[] = [
    {
      left: LEFTS[0],
      colour: colours.without,
      title: 'Five attempts, back-off and jitter',
      subtitle: `${times(typical(without))} the calls for as long as it is down`,
      seconds: without,
    },
    {
      left: LEFTS[1],
      colour: colours.within,
      title: 'The same, with a retry budget of 10 %',
      subtitle: `${times(worst(within))} for one second, then ${times(typical(within))}`,
      seconds: within,
    },
  ]
  const retries = [without, within].map(seconds => seconds.reduce((sum, second) => sum + second.retries, 0))
  const down = DOWN_UNTIL_S - DOWN_FROM_S
  const description =
    `Calls per second that arrive at a dependency that is down for ${down} seconds. Without a budget retries make ` +
    `them ${times(typical(without))} as many while it is down; with a budget of ten per cent ${times(typical(within))}, after one second ` +
    `at ${times(worst(within))}. Retries in all: ${spaced(retries[0]!)} without, ${spaced(retries[1]!)} with the budget.`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="14">
<title id="title">What arrives at a dependency that is down for ${down} seconds</title>
<desc id="description">${description}</desc>
<rect width="${WIDTH}" height="${HEIGHT}" rx="8" fill="${colours.page}"/>
<text x="24" y="38" font-size="20" font-weight="600" fill="${colours.ink}">What arrives at a dependency that is down for ${down} seconds</text>
${legend(colours)}
${panels.map(panel => drawPanel(panel, colours)).join('\n')}
<text x="20" y="${MIDDLE}" text-anchor="middle" font-size="12" fill="${colours.quiet}" transform="rotate(-90 20 ${MIDDLE})">calls per second</text>
<text x="24" y="${HEIGHT - 18}" font-size="13" fill="${colours.quiet}">${spaced(CALLS_PER_SECOND)} calls a second, played with the library’s own rules. Retries in all: ${spaced(retries[0]!)} without the budget, ${spaced(retries[1]!)} with it.</text>
</svg>
`
}

type Colours = (typeof COLOURS)[Theme]

function legend(colours: Colours): string {
  const boxes = [
    [colours.first, 'first attempts', 24],
    [colours.without, '', 148],
    [colours.within, 'retries', 164],
  ] as const
  return boxes
    .map(
      ([colour, word, x]) =>
        `<rect x="${x}" y="54" width="12" height="12" fill="${colour}"/>${word && `<text x="${x + 18}" y="65" fill="${colours.quiet}">${word}</text>`}`,
    )
    .join('\n')
}

function drawPanel({ left, colour, title, subtitle, seconds }: Panel, colours: Colours): string {
  const { width, top, bottom } = PANEL
  const columnWidth = width / SECONDS
  const xOf = (second: number): number => round(left + second * columnWidth)
  const yOf = (calls: number): number => round(bottom - ((bottom - top) * calls) / MAX_CALLS)
  const grid = [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000].map(
    calls =>
      `<line x1="${left}" x2="${left + width}" y1="${yOf(calls)}" y2="${yOf(calls)}" stroke="${calls === 0 ? colours.quiet : colours.line}"/>` +
      `<text x="${left - 8}" y="${yOf(calls) + 4}" text-anchor="end" font-size="12" fill="${colours.quiet}">${spaced(calls)}</text>`,
  )
  const ticks = [0, 5, 10, 15, 20].map(
    second =>
      `<text x="${xOf(second)}" y="${bottom + 18}" text-anchor="middle" font-size="12" fill="${colours.quiet}">${second}</text>`,
  )
  const columns = seconds.map(({ first, retries }, second) => {
    const box = (from: number, to: number, fill: string): string =>
      `<rect x="${round(xOf(second) + 1)}" y="${yOf(to)}" width="${round(columnWidth - 2)}" height="${round(yOf(from) - yOf(to))}" fill="${fill}"/>`
    return box(0, first, colours.first) + (retries > 0 ? box(first, first + retries, colour) : '')
  })
  return `<text x="${left}" y="98" font-size="16" font-weight="600" fill="${colour}">${title}</text>
<text x="${left}" y="118" fill="${colours.ink}">${subtitle}</text>
<rect x="${xOf(DOWN_FROM_S)}" y="${top}" width="${round(xOf(DOWN_UNTIL_S) - xOf(DOWN_FROM_S))}" height="${bottom - top}" fill="${colours.down}"/>
${grid.join('\n')}
${columns.join('\n')}
<text x="${xOf((DOWN_FROM_S + DOWN_UNTIL_S) / 2)}" y="${top + 17}" text-anchor="middle" font-size="12" font-weight="600" fill="${colours.quiet}">down</text>
${ticks.join('\n')}
<text x="${round(left + width / 2)}" y="${bottom + 36}" text-anchor="middle" font-size="12" fill="${colours.quiet}">seconds</text>`
}

/** The busiest second, as a multiple of what callers wanted. */
function worst(seconds: readonly Second[]): number {
  return Math.max(...seconds.map(load))
}

/** The middle of the seconds that the outage lasted, its first one left out. */
function typical(seconds: readonly Second[]): number {
  const loads = seconds
    .slice(DOWN_FROM_S + 1, DOWN_UNTIL_S)
    .map(load)
    .toSorted((left, right) => left - right)
  return loads[loads.length >> 1]!
}

function load({ first, retries }: Second): number {
  return (first + retries) / first
}

function times(factor: number): string {
  return `${factor.toFixed(1)} ×`
}

function spaced(count: number): string {
  return count.toLocaleString('en-US')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
