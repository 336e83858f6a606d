/** When each attempt happens: a band for each, from nine of ten to the median. */
import { sayMs } from '../format.ts'
import type { DelayBand, DelayBands } from '../picture.ts'
import { bandsAxis } from '../spread.ts'
import { element, hint, text } from './element.ts'
import { axisBelow, boxKey, figure, keys, lineKey, type Box, type Key } from './figure.ts'
import type { Sheet } from './sheet.ts'

const ROW = 28
const OUTER = { class: 'plot-fill-running', 'fill-opacity': '0.25' }
const INNER = { class: 'plot-fill-running', 'fill-opacity': '0.7' }

export function delayBandsSvg(picture: DelayBands, { width, theme }: Sheet): string {
  const { bands, seen = [], deadlineMs } = picture
  const axis = bandsAxis(picture)
  const legend = keys(entries(picture), width)
  const box: Box = {
    left: 88,
    right: width - 32,
    top: legend.bottom + 8,
    bottom: legend.bottom + 16 + ROW * bands.length,
  }
  const at = (atMs: number): number => box.left + axis.place(atMs) * (box.right - box.left)
  const row = (attempt: number): number => box.top + 4 + ROW * bands.findIndex(band => band.attempt === attempt)
  return figure({
    title: picture.title,
    description: `When each attempt begins, counted from the first. ${bands.map(say).join(' ')}`,
    width,
    height: box.bottom + 48,
    theme,
    body: () => [
      legend.markup,
      axisBelow(axis, box, 'time since the first attempt, log'),
      ...(deadlineMs === undefined ? [] : [deadlineLine(at(deadlineMs), box)]),
      ...bands.map(band => drawBand(band, { at, top: row(band.attempt), left: box.left })),
      ...seen
        .filter(({ attempt }) => bands.some(band => band.attempt === attempt))
        .map(({ attempt, atMs }) =>
          element(
            'circle',
            { cx: at(atMs), cy: row(attempt) + ROW / 2, r: 4, class: 'plot-fill-retrying plot-line-page' },
            hint(`attempt ${attempt}: seen at ${sayMs(atMs)}`),
          ),
        ),
    ],
  })
}

function drawBand(
  band: DelayBand,
  { at, top, left }: { at: (atMs: number) => number; top: number; left: number },
): string {
  const bar = (from: number, until: number, height: number, looks: Readonly<Record<string, string>>): string =>
    element('rect', {
      x: at(from),
      y: top + (ROW - height) / 2,
      width: Math.max(1, at(until) - at(from)),
      height,
      ...looks,
    })
  const middle = at(band.p50Ms)
  return element(
    'g',
    {},
    hint(say(band)),
    text(`attempt ${band.attempt}`, {
      x: left - 10,
      y: top + ROW / 2 + 4,
      'text-anchor': 'end',
      class: 'plot-fill-ink',
    }),
    bar(band.p5Ms, band.p95Ms, 10, OUTER),
    bar(band.p25Ms, band.p75Ms, 16, INNER),
    element('line', {
      x1: middle,
      x2: middle,
      y1: top + 4,
      y2: top + ROW - 4,
      'stroke-width': 3,
      class: 'plot-line-ink',
    }),
  )
}

export function deadlineLine(x: number, { top, bottom }: Box): string {
  return element('line', {
    x1: x,
    x2: x,
    y1: top,
    y2: bottom,
    'stroke-width': 2,
    'stroke-dasharray': '8 4',
    class: 'plot-line-dead',
  })
}

function entries({ seen, deadlineMs }: DelayBands): Key[] {
  return [
    { name: 'median', mark: lineKey({ class: 'plot-line-ink' }) },
    { name: 'middle half', mark: boxKey(INNER) },
    { name: 'nine of ten', mark: boxKey(OUTER) },
    ...(seen === undefined ? [] : [{ name: 'seen', mark: dotKey }]),
    ...(deadlineMs === undefined ? [] : [deadlineKey(deadlineMs)]),
  ]
}

function dotKey(x: number, y: number): string {
  return element('circle', { cx: x + 10, cy: y, r: 4, class: 'plot-fill-retrying' })
}

export function deadlineKey(deadlineMs: number): Key {
  return {
    name: `deadline ${sayMs(deadlineMs)}`,
    mark: lineKey({ class: 'plot-line-dead', 'stroke-dasharray': '8 4' }),
  }
}

function say({ attempt, p5Ms, p50Ms, p95Ms }: DelayBand): string {
  return `Attempt ${attempt}: half by ${sayMs(p50Ms)}, nine of ten from ${sayMs(p5Ms)} to ${sayMs(p95Ms)}.`
}
