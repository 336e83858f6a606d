import { createColors } from 'picocolors'
import { visible } from './visible.ts'

/** What a text is laid out for. */
export interface Page {
  readonly columns: number
  readonly colors: Colors
  /** Only characters that any terminal and any log can show. */
  readonly isAscii: boolean
}

export type Colors = ReturnType<typeof createColors>

/** Colour never carries meaning alone: without it every word is still there. */
export function createPage(options: { columns: number; hasColors: boolean; isAscii: boolean }): Page {
  return { columns: options.columns, colors: createColors(options.hasColors), isAscii: options.isAscii }
}

/** The words in lines that fit; the first is indented as the text is, all others by `indent`. */
export function wrap(text: string, columns: number, indent = ''): string {
  const [, margin = '', words = ''] = /^(\s*)(.*)$/s.exec(text)!
  const lines: string[] = []
  let line = margin
  for (const word of words.split(' ')) {
    const isFirst = line.trim() === ''
    if (!isFirst && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent + word
    } else line += isFirst ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}

/** `label   text`, the text wrapped beside its label; a label that is too long pushes its own text aside. */
export function labelled(label: string, text: string, { columns, width }: { columns: number; width: number }): string {
  const indent = ' '.repeat(width)
  return wrap(label.padEnd(Math.max(width, label.length + GAP)) + visible(text), columns, indent)
}

/** Less would read as one word. */
const GAP = 1

const PLAIN: { readonly [glyph: string]: string } = {
  '×': 'x',
  // One character, for it stands where a text has been cut to fit.
  '…': '~',
  '✓': '+',
  '✕': 'x',
  '·': '.',
  '–': '-',
  '—': '-',
  '−': '-',
  '→': '->',
  '±': '+-',
  '≤': '<=',
  '≥': '>=',
  '≪': '<<',
  '≈': '~',
  '⁴': '^4',
}
const GLYPHS = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

/** Our signs in characters that any terminal can show; names are left as they are. */
export function plain(text: string): string {
  return text.replaceAll(GLYPHS, glyph => PLAIN[glyph]!)
}
