/** What all SVG pictures have in common: page, title, description, legend, axes. */
import type { Axis } from '../axis.ts'
import { element, escaped, text } from './element.ts'
import { styleSheet, type Colour, type Theme } from './theme.ts'

export interface SvgOptions {
  /** In pixels; 720 unless told, 320 at the least. Pictures are as high as they need to be. */
  readonly width?: number
  /** `auto`, unless told, follows the reader's preference and `--plot-…`; the others are for places that know neither. */
  readonly theme?: Theme
}

export interface Figure {
  readonly title: string
  /** What the picture shows, for those who do not see it. */
  readonly description: string
  readonly width: number
  readonly height: number
  readonly theme: Theme
  /** Markup; asks for the names of its patterns by `patternId`. */
  readonly body: (patternId: (pattern: Pattern) => string) => readonly string[]
  /** Where the axes lie, for whoever makes the picture live. */
  readonly live?: Box
}

export type Pattern = 'retries' | 'span'

export interface Box {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export function figure({ title, description, width, height, theme, body, live }: Figure): string {
  // Named after what it shows: two pictures on one page must not share ids, and no counter is the same twice.
  const id = `plot-${hash(title + description + width + theme)}`
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    class: 'plot',
    role: 'img',
    'aria-labelledby': `${id}-title ${id}-description`,
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    ...(live && { 'data-left': live.left, 'data-right': live.right, 'data-top': live.top, 'data-bottom': live.bottom }),
  }
  const children = [
    element('title', { id: `${id}-title` }, escaped(title)),
    element('desc', { id: `${id}-description` }, escaped(description)),
    element('style', {}, styleSheet(theme)),
    element('defs', {}, hatch(`${id}-retries`, 'retrying'), dots(`${id}-span`)),
    element('rect', { width, height, rx: 6, class: 'plot-fill-page' }),
    text(shortened(title, (width - 32) * 0.8), { x: 16, y: 26, class: 'plot-strong plot-fill-ink' }),
    ...body(pattern => `url(#${id}-${pattern})`),
  ]
  return `${element('svg', attributes, '\n', children.join('\n'), '\n')}\n`
}

export interface Key {
  readonly name: string
  readonly mark: (x: number, y: number) => string
  /** Which series it names, for whoever makes the picture live. */
  readonly series?: number
}

/** Marks with their names in lines below the title; `bottom` is where the picture may begin. */
export function keys(entries: readonly Key[], width: number): { readonly markup: string; readonly bottom: number } {
  let [x, y] = [16, 48]
  const drawn = entries.map(({ name, mark, series }) => {
    const shown = shortened(name, width - 60)
    const needed = 28 + textWidth(shown) + 18
    if (x > 16 && x + needed > width) [x, y] = [16, y + 20]
    const markup = mark(x, y - 4) + text(shown, { x: x + 26, y, class: 'plot-fill-ink' })
    x += needed
    return element('g', { 'data-key': series }, markup)
  })
  return { markup: drawn.join('\n'), bottom: entries.length === 0 ? 40 : y + 12 }
}

export function boxKey(attributes: Readonly<Record<string, string>>): Key['mark'] {
  return (x, y) => element('rect', { x, y: y - 6, width: 20, height: 11, ...attributes })
}

export function lineKey(attributes: Readonly<Record<string, string | undefined>>): Key['mark'] {
  return (x, y) => element('line', { x1: x, x2: x + 20, y1: y, y2: y, 'stroke-width': 2, ...attributes })
}

/** Marks and names along the bottom. */
export function axisBelow(axis: Axis, { left, right, top, bottom }: Box, name: string): string {
  const marks = axis.ticks.map(({ value, label }) => {
    const x = left + axis.place(value) * (right - left)
    return (
      element('line', { x1: x, x2: x, y1: top, y2: bottom + 4, class: 'plot-line-line' }) +
      text(label, { x, y: bottom + 18, 'text-anchor': 'middle', class: 'plot-fill-quiet' })
    )
  })
  const rule = element('line', { x1: left, x2: right, y1: bottom, y2: bottom, class: 'plot-line-quiet' })
  const said = text(name, { x: (left + right) / 2, y: bottom + 36, 'text-anchor': 'middle', class: 'plot-fill-quiet' })
  return [...marks, rule, said].join('')
}

/** Marks and names along the left side. */
export function axisBeside(axis: Axis, { left, right, top, bottom }: Box): string {
  return axis.ticks
    .map(({ value, label }) => {
      const y = bottom - axis.place(value) * (bottom - top)
      return (
        element('line', { x1: left, x2: right, y1: y, y2: y, class: 'plot-line-line' }) +
        text(label, { x: left - 8, y: y + 4, 'text-anchor': 'end', class: 'plot-fill-quiet' })
      )
    })
    .join('')
}

/** An estimate on the wide side: nobody can measure letters without a screen. */
export function textWidth(content: string): number {
  let width = 0
  for (const character of content)
    width += character.codePointAt(0)! > 0x2e7f ? 13 : /[A-Z@%mwMW—…]/.test(character) ? 9.5 : 7
  return width
}

export function shortened(content: string, room: number): string {
  if (textWidth(content) <= room) return content
  const characters = Array.from(content)
  while (characters.length > 0 && textWidth(`${characters.join('')}…`) > room) characters.pop()
  return `${characters.join('').trimEnd()}…`
}

function hatch(id: string, colour: Colour): string {
  return element(
    'pattern',
    { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    element('rect', { width: 6, height: 6, class: `plot-fill-${colour}`, 'fill-opacity': '0.35' }),
    element('line', { x1: 1.5, x2: 1.5, y1: 0, y2: 6, 'stroke-width': 3, class: `plot-line-${colour}` }),
  )
}

function dots(id: string): string {
  return element(
    'pattern',
    { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' },
    element('circle', { cx: 3, cy: 3, r: 0.9, class: 'plot-fill-quiet', 'fill-opacity': '0.55' }),
  )
}

/** FNV-1a: short, the same everywhere, and no secret. */
function hash(content: string): string {
  let sum = 0x811c9dc5
  for (let index = 0; index < content.length; index++) sum = Math.imul(sum ^ content.charCodeAt(index), 0x01000193)
  return (sum >>> 0).toString(36)
}
