/** One operation on one ruler: its plan above, what happened below, what held it in between. */
import { sayMs } from '../format.ts'
import type { BackoffRuler, RulerAttempt } from '../picture.ts'
import { rulerAxis } from '../spread.ts'
import { deadlineKey, deadlineLine } from './delay-bands.ts'
import { element, hint, pathThrough, text } from './element.ts'
import { axisBelow, boxKey, figure, keys, lineKey, type Box, type Key } from './figure.ts'
import type { Sheet } from './sheet.ts'

const PLAN = 14
const HELD = { class: 'plot-fill-held', 'fill-opacity': '0.55' }
const PLANNED = { class: 'plot-fill-quiet', 'fill-opacity': '0.35' }

export function rulerSvg(picture: BackoffRuler, { width, theme }: Sheet): string {
  const { plan, attempts, holds = [], nowMs, deadlineMs } = picture
  const axis = rulerAxis(picture)
  const legend = keys(entries(picture), width)
  const planBottom = legend.bottom + 12 + PLAN * plan.length
  const box: Box = { left: 88, right: width - 32, top: legend.bottom + 8, bottom: planBottom + 62 }
  const at = (atMs: number): number => box.left + axis.place(atMs) * (box.right - box.left)
  const bar = (
    fromMs: number,
    untilMs: number,
    y: number,
    looks: Readonly<Record<string, string>>,
    said: string,
  ): string =>
    element(
      'rect',
      { x: at(fromMs), y, width: Math.max(2, at(untilMs) - at(fromMs)), height: 10, rx: 2, ...looks },
      hint(said),
    )
  const side = (name: string, y: number): string =>
    text(name, { x: box.left - 10, y, 'text-anchor': 'end', class: 'plot-fill-ink' })
  return figure({
    title: picture.title,
    description: describe(picture),
    width,
    height: box.bottom + 48,
    theme,
    body: () => [
      legend.markup,
      axisBelow(axis, box, 'time since the first attempt, log'),
      ...(deadlineMs === undefined ? [] : [deadlineLine(at(deadlineMs), box)]),
      ...(nowMs === undefined
        ? []
        : [
            element('line', {
              x1: at(nowMs),
              x2: at(nowMs),
              y1: box.top,
              y2: box.bottom,
              'stroke-width': 2,
              class: 'plot-line-ink',
            }),
          ]),
      ...(plan.length === 0 ? [] : [side('plan', box.top + 12)]),
      ...plan.map(({ attempt, earliestMs, latestMs }, index) => {
        const y = box.top + 4 + PLAN * index
        const said = `attempt ${attempt}: planned from ${sayMs(earliestMs)} to ${sayMs(latestMs)}`
        return (
          bar(earliestMs, latestMs, y, PLANNED, said) +
          text(String(attempt), { x: Math.min(box.right - 2, at(latestMs)) + 5, y: y + 9, class: 'plot-fill-quiet' })
        )
      }),
      ...(holds.length === 0 ? [] : [side('held', planBottom + 18)]),
      ...holds.map(({ name, fromMs, untilMs }) =>
        bar(fromMs, untilMs, planBottom + 9, HELD, `${name}: ${sayMs(fromMs)} to ${sayMs(untilMs)}`),
      ),
      side('attempts', planBottom + 46),
      ...attempts.map(one => drawAttempt(one, at(one.atMs), planBottom + 42)),
    ],
  })
}

/** Shape and colour: either alone is enough. */
function drawAttempt({ attempt, atMs, result }: RulerAttempt, x: number, y: number): string {
  return element('g', {}, hint(`attempt ${attempt}: ${result}, at ${sayMs(atMs)}`), shapeOf(result, x, y))
}

function shapeOf(result: RulerAttempt['result'], x: number, y: number): string {
  const stroke = (...corners: readonly (readonly [right: number, down: number])[]): string =>
    pathThrough(corners.map(([right, down]) => [x + right, y + down]))
  switch (result) {
    case 'failed':
      return element('path', {
        d: stroke([-5, -5], [5, 5]) + stroke([5, -5], [-5, 5]),
        'stroke-width': 3,
        class: 'plot-line-dead',
      })
    case 'succeeded':
      return element('path', {
        d: stroke([-6, 0], [-1, 5], [6, -6]),
        fill: 'none',
        'stroke-width': 3,
        class: 'plot-line-ok',
      })
    case 'running':
      return element('circle', { cx: x, cy: y, r: 5, class: 'plot-fill-running' })
  }
}

function entries({ plan, attempts, holds = [], nowMs, deadlineMs }: BackoffRuler): Key[] {
  const results = [...new Set(attempts.map(({ result }) => result))]
  return [
    ...(plan.length === 0 ? [] : [{ name: 'planned', mark: boxKey(PLANNED) }]),
    ...results.map((result): Key => ({ name: result, mark: (x, y) => shapeOf(result, x + 10, y) })),
    ...holds.map(({ name, fromMs, untilMs }) => ({ name: `${name}, ${sayMs(untilMs - fromMs)}`, mark: boxKey(HELD) })),
    ...(nowMs === undefined ? [] : [{ name: 'now', mark: lineKey({ class: 'plot-line-ink' }) }]),
    ...(deadlineMs === undefined ? [] : [deadlineKey(deadlineMs)]),
  ]
}

function describe({ attempts, holds = [], deadlineMs }: BackoffRuler): string {
  return [
    ...attempts.map(({ attempt, atMs, result }) => `Attempt ${attempt} ${result} at ${sayMs(atMs)}.`),
    ...holds.map(({ name, fromMs, untilMs }) => `Held from ${sayMs(fromMs)} to ${sayMs(untilMs)}: ${name}.`),
    ...(deadlineMs === undefined ? [] : [`The deadline is at ${sayMs(deadlineMs)}.`]),
  ].join(' ')
}
