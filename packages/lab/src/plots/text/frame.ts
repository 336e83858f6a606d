/** Lines of a terminal: rows of cells between two axes, with names beside and below. */
import type { Axis } from '../axis.ts'
import type { NamedSpan } from '../picture.ts'
import type { Glyphs } from './glyphs.ts'
import { clipped, padStartTo, plainLabel, widthOf } from './label.ts'

/** What a piece of text stands for; a terminal may give each its colour. */
export type Ink =
  | 'plain'
  | 'title'
  | 'axis'
  | 'first'
  | 'retries'
  | 'hedges'
  | 'capacity'
  | 'one'
  | 'other'
  | 'both'
  | 'failed'
  | 'succeeded'

export interface TextOptions {
  /** How wide a line may be; 80 unless told, 40 at the least. */
  readonly columns?: number
  /** How high the picture is without axis and names; 12 unless told. */
  readonly rows?: number
  /** Only characters that every terminal has. */
  readonly ascii?: boolean
  /** Colours, if the terminal has them; the lab itself writes none. */
  readonly paint?: (text: string, ink: Ink) => string
}

export interface Cell {
  readonly text: string
  readonly ink: Ink
}

export type Line = readonly Cell[]

/** What the parts of a picture share. */
export interface Sheet {
  readonly glyphs: Glyphs
  readonly columns: number
  readonly rows: number
}

export const EMPTY: Cell = { text: ' ', ink: 'plain' }

export interface Framed {
  /** From top to bottom, each as wide as the others. */
  readonly rows: readonly (readonly Cell[])[]
  /** Beside each row; empty for none. */
  readonly labels: readonly string[]
  readonly axis: Axis
  readonly spans?: readonly NamedSpan[]
}

/** Cells that are left for the picture beside labels. */
export function widthBeside(labels: readonly string[], sheet: Sheet): number {
  return sheet.columns - labelWidth(labels, sheet) - 3
}

export function framed({ rows, labels, axis, spans = [] }: Framed, sheet: Sheet): Line[] {
  const { glyphs } = sheet
  const beside = labelWidth(labels, sheet)
  const indent = (label = ''): string => ` ${padStartTo(clipped(label, beside, glyphs.ellipsis), beside)} `
  const width = rows[0]?.length ?? 0
  const body = rows.map((row, index): Line => {
    const label = labels[index] ?? ''
    return [axisCell(indent(label) + (label === '' ? glyphs.upright : glyphs.tick)), ...row]
  })
  const { rule, names } = ruled(axis, width, glyphs)
  const below = spans.map((span): Line => [axisCell(indent() + ' ' + spanLine(span, axis, width, glyphs))])
  return [...body, [axisCell(indent() + glyphs.corner + rule)], [axisCell(indent() + ' ' + names)], ...below]
}

/** A sentence, broken between words. */
export function wrapped(text: string, { columns, glyphs }: Sheet, ink: Ink = 'plain'): Line[] {
  const lines: string[] = ['']
  for (const word of plainLabel(text, glyphs.isAscii).split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trimStart()
    if (widthOf(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(clipped(word, columns, glyphs.ellipsis))
  }
  return lines.filter(line => line !== '').map(line => [{ text: line, ink }])
}

export interface LegendEntry extends Cell {
  readonly name: string
}

/** A glyph and its meaning, side by side as far as there is room. */
export function legend(entries: readonly LegendEntry[], { columns, glyphs }: Sheet): Line[] {
  const lines: Cell[][] = []
  let left = 0
  for (const { name, ...glyph } of entries) {
    const room = columns - widthOf(glyph.text) - 2
    const said = clipped(plainLabel(name, glyphs.isAscii), room, glyphs.ellipsis)
    const width = widthOf(glyph.text) + 3 + widthOf(said)
    if (lines.length === 0 || width > left) {
      lines.push([])
      left = columns
    }
    lines.at(-1)!.push({ text: ' ', ink: 'plain' }, glyph, { text: ` ${said} `, ink: 'plain' })
    left -= width
  }
  return lines
}

export function written(lines: readonly Line[], paint: TextOptions['paint']): string {
  return lines.map(line => lineText(line, paint) + '\n').join('')
}

function lineText(line: Line, paint: TextOptions['paint']): string {
  const plain = line.map(({ text }) => text).join('')
  if (paint === undefined) return plain.trimEnd()
  // Neighbours of one ink are painted together: escapes are longer than what they colour.
  const runs: { text: string; ink: Ink }[] = []
  for (const { text, ink } of line) {
    if (runs.at(-1)?.ink === ink) runs.at(-1)!.text += text
    else runs.push({ text, ink })
  }
  return runs.map(({ text, ink }) => paint(text, ink)).join('')
}

/** Names beside a picture take at most a third of it. */
function labelWidth(labels: readonly string[], { columns }: Sheet): number {
  return Math.min(Math.floor(columns / 3), Math.max(0, ...labels.map(widthOf)))
}

function ruled(axis: Axis, width: number, glyphs: Glyphs): { rule: string; names: string } {
  const rule = Array.from({ length: width }, () => glyphs.line)
  let names = ''
  for (const { value, label } of axis.ticks) {
    const at = Math.min(width - 1, Math.round(axis.place(value) * width))
    const from = Math.max(0, Math.min(at - Math.floor(label.length / 2), width - label.length))
    // A mark without a name would have to be guessed.
    if (from < names.length + (names === '' ? 0 : 2) || from + label.length > width) continue
    rule[at] = glyphs.mark
    names = names.padEnd(from) + label
  }
  return { rule: rule.join(''), names }
}

/** `├── outage ──┤` below the time that it took. */
function spanLine({ name, fromMs, untilMs }: NamedSpan, axis: Axis, width: number, glyphs: Glyphs): string {
  const from = Math.min(width - 2, Math.floor(axis.place(fromMs) * width))
  const until = Math.max(from + 2, Math.round(axis.place(untilMs) * width))
  const label = clipped(plainLabel(name, glyphs.isAscii), width, glyphs.ellipsis)
  const inside = until - from - 2
  const spare = inside - widthOf(label) - 2
  if (spare >= 0) {
    const [before, after] = [Math.floor(spare / 2), Math.ceil(spare / 2)].map(count => glyphs.line.repeat(count))
    return `${' '.repeat(from)}${glyphs.spanFrom}${before} ${label} ${after}${glyphs.spanUntil}`
  }
  const bar = glyphs.spanFrom + glyphs.line.repeat(Math.max(0, inside)) + glyphs.spanUntil
  const afterBar = width - from - bar.length - 1
  if (widthOf(label) <= afterBar) return `${' '.repeat(from)}${bar} ${label}`
  const beforeBar = clipped(label, Math.max(0, from - 1), glyphs.ellipsis)
  return `${padStartTo(beforeBar, Math.max(0, from - 1))}${from > 0 ? ' ' : ''}${bar}`
}

function axisCell(text: string): Cell {
  return { text, ink: 'axis' }
}
