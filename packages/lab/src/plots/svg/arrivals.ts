/** Steps of calls a second: one policy stacked by why the calls were made, several as lines over each other. */
import { amountAxis, timeAxis, type Axis } from '../axis.ts'
import { columnsOf, sayFirst, spansBefore, type Column, type Columns } from '../buckets.ts'
import { sayMs, sayNumber, sayRate } from '../format.ts'
import type { ArrivalsPicture, NamedSpan } from '../picture.ts'
import { element, hint, pathThrough, text, type Attributes } from './element.ts'
import {
  axisBelow,
  axisBeside,
  boxKey,
  figure,
  keys,
  lineKey,
  shortened,
  textWidth,
  type Box,
  type Key,
  type Pattern,
} from './figure.ts'
import type { Sheet } from './sheet.ts'
import { styleOf } from './theme.ts'

/** Finer steps than this cannot be seen apart. */
export const MOST_STEPS = 400
/** Pixels that even the name of an instant may take. */
const LEAST_LABEL = 130

export function arrivalsSvg(picture: ArrivalsPicture, { width, theme }: Sheet): string {
  const steps = columnsOf(picture, MOST_STEPS)
  const capacity = picture.capacityPerSecond
  const isStacked = steps.series.length === 1
  const x = timeAxis(steps.endMs, width / 90)
  const y = amountAxis(Math.max(steps.peakPerSecond, capacity ?? 0), 6, sayNumber)
  // Names take lines, whatever their marks look like.
  const { bottom: top } = keys(entries(picture, String), width)
  const box: Box = { left: 64, right: width - 20, top: top + 26, bottom: top + 256 }
  const at = places(x, y, box)
  return figure({
    title: picture.title,
    description: describe(picture, steps),
    width,
    height: box.bottom + 48,
    theme,
    live: box,
    body: patternId => [
      keys(entries(picture, patternId), width).markup,
      ...spansBefore(steps.endMs, picture).map(span => drawSpan(span, { at, box, fill: patternId('span') })),
      axisBeside(y, box),
      axisBelow(x, box, `time, in steps of ${sayMs(steps.columnMs)}`),
      text('calls/s', { x: box.left - 8, y: box.top - 14, 'text-anchor': 'end', class: 'plot-fill-quiet' }),
      ...(isStacked ? stack(steps, at, patternId) : overlay(steps, at)),
      ...(capacity === undefined ? [] : [capacityLine(capacity, { at, box })]),
    ],
  })
}

export interface Places {
  readonly x: (ms: number) => number
  readonly y: (perSecond: number) => number
}

export function places(x: Axis, y: Axis, { left, right, top, bottom }: Box): Places {
  return {
    x: ms => left + x.place(ms) * (right - left),
    y: perSecond => bottom - y.place(perSecond) * (bottom - top),
  }
}

/** Kinds of calls from the bottom up, each with where it ends. */
const LAYERS = [
  { kind: 'first', name: sayFirst, upTo: (step: Column) => step.first },
  { kind: 'retries', name: () => 'retries', upTo: (step: Column) => step.first + step.retries },
  { kind: 'hedges', name: () => 'hedges', upTo: (step: Column) => step.total },
] as const

function stack({ series, columnMs, endMs }: Columns, at: Places, patternId: (pattern: Pattern) => string): string[] {
  const steps = series[0]!.columns
  return LAYERS.map(({ kind, upTo }, index) => {
    const below = LAYERS[index - 1]?.upTo ?? (() => 0)
    const area = { series: index, below: steps.map(below), above: steps.map(upTo), columnMs, endMs }
    return areaBetween(area, at, looksOf(kind, patternId))
  }).filter(markup => markup !== '')
}

export interface Area {
  readonly series: number
  readonly below: readonly number[]
  readonly above: readonly number[]
  readonly columnMs: number
  readonly endMs: number
}

/** Empty where there is nothing to fill. */
export function areaBetween({ series, below, above, ...time }: Area, at: Places, looks: Attributes): string {
  if (above.every((amount, step) => amount === below[step])) return ''
  const d = `${pathThrough([...outline(above, time, at), ...outline(below, time, at).toReversed()])}Z`
  return element('path', { 'data-series': series, d, ...looks })
}

export function looksOf(
  kind: 'first' | 'retries' | 'hedges',
  patternId: (pattern: Pattern) => string,
): Record<string, string> {
  switch (kind) {
    case 'first':
      return { class: 'plot-fill-running', 'fill-opacity': '0.75' }
    case 'retries':
      return { fill: patternId('retries') }
    case 'hedges':
      return { class: 'plot-fill-held' }
  }
}

function overlay({ series, columnMs, endMs }: Columns, at: Places): string[] {
  return series.map(({ columns }, index) => {
    const { colour, dashes } = styleOf(index)
    const line = outline(
      columns.map(({ total }) => total),
      { columnMs, endMs },
      at,
    )
    const area = `${pathThrough([[at.x(0), at.y(0)], ...line, [at.x(endMs), at.y(0)]])}Z`
    return element(
      'g',
      { 'data-series': index },
      // More than two tints would mix into mud.
      series.length > 2 ? '' : element('path', { d: area, class: `plot-fill-${colour}`, 'fill-opacity': '0.12' }),
      element('path', {
        d: pathThrough(line),
        fill: 'none',
        'stroke-width': 2,
        'stroke-dasharray': dashes,
        class: `plot-line-${colour}`,
      }),
    )
  })
}

/** Two corners for each step: a rate holds for the whole of its time. */
function outline(
  rates: readonly number[],
  { columnMs, endMs }: { columnMs: number; endMs: number },
  at: Places,
): [number, number][] {
  return rates.flatMap((rate, index): [number, number][] => [
    [at.x(index * columnMs), at.y(rate)],
    [at.x(Math.min(endMs, (index + 1) * columnMs)), at.y(rate)],
  ])
}

export function drawSpan(
  { name, fromMs, untilMs }: NamedSpan,
  { at, box, fill }: { at: Places; box: Box; fill: string },
): string {
  const [from, until] = [at.x(fromMs), Math.max(at.x(fromMs) + 1, at.x(untilMs))]
  const label = shortened(name, Math.max(LEAST_LABEL, until - from))
  const half = textWidth(label) / 2
  const middle = Math.min(box.right - half, Math.max(box.left + half, (from + until) / 2))
  return element(
    'g',
    {},
    hint(`${name}: ${sayMs(fromMs)} to ${sayMs(untilMs)}`),
    element('rect', { x: from, y: box.top, width: until - from, height: box.bottom - box.top, fill }),
    text(label, { x: middle, y: box.top - 7, 'text-anchor': 'middle', class: 'plot-fill-quiet' }),
  )
}

export function capacityLine(capacity: number, { at, box }: { at: Places; box: Box }): string {
  const y = at.y(capacity)
  return element('line', {
    x1: box.left,
    x2: box.right,
    y1: y,
    y2: y,
    'stroke-width': 2,
    'stroke-dasharray': '8 4',
    class: 'plot-line-dead',
  })
}

function entries(picture: ArrivalsPicture, patternId: (pattern: Pattern) => string): Key[] {
  const { series, capacityPerSecond } = picture
  const [one] = series
  const has = (counts: readonly number[] = []): boolean => counts.some(count => count > 0)
  const kinds = LAYERS.map(({ kind, name }, index): Key & { isThere: boolean } => ({
    name: name(picture),
    mark: boxKey(looksOf(kind, patternId)),
    series: index,
    isThere: has(one![kind]),
  }))
  const lines = series.map(({ name }, index): Key => {
    const { colour, dashes } = styleOf(index)
    return { name, mark: lineKey({ class: `plot-line-${colour}`, 'stroke-dasharray': dashes }), series: index }
  })
  const capacity = {
    name: `capacity ${sayRate(capacityPerSecond ?? 0)}`,
    mark: lineKey({ class: 'plot-line-dead', 'stroke-dasharray': '8 4' }),
  }
  return [
    ...(series.length === 1 ? kinds.filter(({ isThere }) => isThere) : lines),
    ...(capacityPerSecond === undefined ? [] : [capacity]),
  ]
}

function describe(
  { series, capacityPerSecond, spans = [] }: ArrivalsPicture,
  { series: steps, endMs, columnMs }: Columns,
): string {
  const peaks = steps.map(({ columns }, index) => {
    const peak = columns.reduce((most, { total }) => Math.max(most, total), 0)
    return `${series[index]!.name} peaks at ${sayRate(peak)}`
  })
  return [
    `Calls per second over ${sayMs(endMs)}, in steps of ${sayMs(columnMs)}: ${peaks.join('; ')}.`,
    ...(capacityPerSecond === undefined ? [] : [`The capacity is ${sayRate(capacityPerSecond)}.`]),
    ...spans.map(({ name, fromMs, untilMs }) => `${name} from ${sayMs(fromMs)} to ${sayMs(untilMs)}.`),
  ].join(' ')
}
