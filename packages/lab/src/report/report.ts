/**
 * A report in one file: pictures, their values and what to conclude from them. It loads nothing and tells nobody. All
 * is there without its script; with it values appear under the pointer or the arrow keys, and series can be hidden.
 */
import { drawSvg } from '../plots/svg/draw-svg.ts'
import { escaped } from '../plots/svg/element.ts'
import type { Picture } from '../plots/picture.ts'
import { SCRIPT } from './script.ts'
import { stopsOf, type Stops } from './stops.ts'
import { STYLE } from './style.ts'

export interface ReportInput {
  readonly title: string
  /** What to conclude, in one sentence. */
  readonly verdict: Verdict
  /** The numbers that it rests on. */
  readonly facts: readonly Fact[]
  readonly sections: readonly ReportSection[]
  /** Commands to try next. */
  readonly next?: readonly string[]
  /** How to get the same report again: the command, the seed. */
  readonly origin?: string
}

export interface Verdict {
  readonly kind: 'good' | 'bad' | 'neither'
  readonly say: string
}

export interface Fact {
  readonly name: string
  readonly value: string
  /** What to compare it with. */
  readonly note?: string
}

export interface ReportSection {
  readonly heading: string
  readonly text?: string
  readonly picture?: Picture
  readonly table?: ReportTable
}

/** The first column names the row. */
export interface ReportTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Nothing from anywhere; styles and the script are in the file itself. */
const NOTHING_ELSE =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

export function reportHtml({ title, verdict, facts, sections, next = [], origin }: ReportInput): string {
  const body = [
    `<h1>${escaped(title)}</h1>`,
    `<p class="verdict ${verdict.kind}"><strong>${VERDICTS[verdict.kind]}</strong> ${escaped(verdict.say)}</p>`,
    facts.length === 0 ? '' : `<dl class="facts">${facts.map(factHtml).join('')}</dl>`,
    ...sections.map(sectionHtml),
    next.length === 0 ? '' : `<section><h2>Try next</h2><pre>${next.map(escaped).join('\n')}</pre></section>`,
    origin === undefined ? '' : `<footer>${escaped(origin)}</footer>`,
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${NOTHING_ELSE}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body.filter(part => part !== '').join('\n')}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`
}

const VERDICTS: Readonly<Record<Verdict['kind'], string>> = { good: '✓ Good.', bad: '✕ Bad.', neither: '● Note.' }

function factHtml({ name, value, note }: Fact): string {
  const said = note === undefined ? '' : `<dd class="note">${escaped(note)}</dd>`
  return `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>${said}</div>`
}

function sectionHtml({ heading, text, picture, table }: ReportSection): string {
  return [
    `<section><h2>${escaped(heading)}</h2>`,
    text === undefined ? '' : `<p>${escaped(text)}</p>`,
    picture === undefined ? '' : pictureHtml(picture),
    table === undefined ? '' : tableHtml(table),
    '</section>',
  ].join('')
}

function pictureHtml(picture: Picture): string {
  const stops = stopsOf(picture)
  const frame = `<div class="frame" tabindex="0">${drawSvg(picture, { width: 860 })}</div>`
  return stops === undefined
    ? `<figure>${frame}</figure>`
    : `<figure class="live">${frame}${valuesHtml(stops)}</figure>`
}

/** The values that the script shows under the pointer are this table: there is one truth, and it can be read without it. */
function valuesHtml({ at, series, stops }: Stops): string {
  const head = [at, ...series.map(({ name }) => name)].map(name => `<th scope="col">${escaped(name)}</th>`)
  // The number by which the picture calls the series, so that both are hidden together.
  const columns = series.map(({ index }) => index).join(' ')
  const rows = stops.map(({ place, say, values }) => {
    const cells = values.map(value => `<td>${escaped(value)}</td>`)
    return `<tr data-place="${place.toFixed(4)}"><th scope="row">${escaped(say)}</th>${cells.join('')}</tr>`
  })
  return `<output></output><details><summary>Values</summary><table data-columns="${columns}"><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></details>`
}

function tableHtml({ columns, rows }: ReportTable): string {
  const head = columns.map(name => `<th scope="col">${escaped(name)}</th>`)
  const body = rows.map(([name = '', ...cells]) => {
    const written = cells.map(cell => `<td>${escaped(cell)}</td>`)
    return `<tr><th scope="row">${escaped(name)}</th>${written.join('')}</tr>`
  })
  return `<div class="frame"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}
