import { bars, marks } from './chart.ts'
import type { Colours, Paint } from './colours.ts'
import { SCENARIO, TOTAL_CALLS } from './scenario.ts'
import { countParts, type Summary } from './statistics.ts'
import { table, whole } from './table.ts'

const NAME_WIDTH = 16
/** One character of the chart. */
const PART_MS = 200
const CHART_LINES = 3

export function introduction({ bold }: Colours): string {
  const { callsPerSecond, lengthMs, lostOneIn, downFromMs, downUntilMs, serveMs } = SCENARIO
  return `
${bold('Secondwind: one outage, three clients')}

A local server can serve ${Math.floor(1_000 / serveMs)} calls a second. It loses one call in ${lostOneIn}, and from second ${downFromMs / 1_000} to
second ${downUntilMs / 1_000} it is down. Each client has such a server to itself, and makes the same ${whole(TOTAL_CALLS)} calls:
${callsPerSecond} a second, for ${lengthMs / 1_000} seconds.`
}

export function report(
  summaries: readonly Summary[],
  arrivals: readonly (readonly number[])[],
  colours: Colours,
): string {
  const { bold, quiet, orange, teal } = colours
  const paints = [quiet, orange, teal]
  const [plain, naive, secondwind] = summaries as [Summary, Summary, Summary]
  return `
${table(summaries, paints, NAME_WIDTH).join('\n')}

${quiet('server saw: calls that arrived · per call: of them, for each call that was wanted')}
${quiet('p50, p95: how long the calls that succeeded took')}

${bold('Calls arriving at the server')}

${charts(summaries, arrivals, paints)}

${bold(verdict(plain, naive, secondwind))}

${nextSteps(colours)}`
}

function charts(
  summaries: readonly Summary[],
  arrivals: readonly (readonly number[])[],
  paints: readonly Paint[],
): string {
  const count = SCENARIO.lengthMs / PART_MS
  const counts = arrivals.map(instants => countParts(instants, { count, ms: PART_MS }))
  const most = Math.max(...counts.flat())
  const panels = summaries.map(({ name, peakPerSecond }, index) => {
    const lines = bars(counts[index]!, { most, lines: CHART_LINES })
    const labels = ['', name, `peak ${whole(peakPerSecond)}/s`].slice(-CHART_LINES)
    return lines.map((line, row) => labels[row]!.padEnd(NAME_WIDTH) + paints[index]!(line.trimEnd())).join('\n')
  })
  return [panels.join('\n\n'), axis()].join('\n')
}

function axis(): string {
  const { downFromMs, downUntilMs, lengthMs } = SCENARIO
  const columnOf = (ms: number): number => NAME_WIDTH + ms / PART_MS
  const downWidth = columnOf(downUntilMs) - columnOf(downFromMs)
  const end = `${lengthMs / 1_000} s`
  return marks([
    [columnOf(0), '0 s'],
    [columnOf(downFromMs), `├${' down '.padStart(downWidth / 2 + 2, '─').padEnd(downWidth - 2, '─')}┤`],
    [columnOf(lengthMs) - end.length, end],
  ])
}

/** Less is the ordinary lateness of timers. */
const WORTH_A_WORD_MS = 500

/** What the story left out, if the machine was too busy to keep up with it; else nothing. */
export function standstill(ms: number): string {
  if (ms < WORTH_A_WORD_MS) return ''
  return `\nThis machine was busy and stood still for ${(ms / 1_000).toFixed(1)} s in all. That time was left out; on a quiet machine\nthe figures are clearer.\n`
}

/** What the figures say, in one sentence. */
export function verdict(plain: Summary, naive: Summary, secondwind: Summary): string {
  return (
    `Naive retries sent ${naive.amplification.toFixed(1)} times the calls and got ${compare(naive, plain)} answers than no retries at all;\n` +
    `Secondwind sent ${secondwind.amplification.toFixed(1)} times the calls and got ${compare(secondwind, plain)}.`
  )
}

function compare(one: Summary, other: Summary): string {
  const difference = one.succeeded - other.succeeded
  return `${whole(Math.abs(difference))} ${difference < 0 ? 'fewer' : 'more'}`
}

function nextSteps({ quiet, teal }: Colours): string {
  return `What next
  npm test                          every rule behind this, checked
  README.md, "Sixty seconds"        retry, fetch, and what is retried
  ${quiet('in your own program:')}

${teal(SNIPPET)}
`
}

const SNIPPET = `    import { createFetch } from '@secondwind/resilience/fetch'

    const fetch = createFetch()      // once, for the whole program
    const response = await fetch('https://api.example.com/orders/42')`
