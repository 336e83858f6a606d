/** Two panels over one axis: tasks that wait and, below, requests a second by their result. */
import { amountAxis, timeAxis, type Axis } from '../axis.ts'
import { deliveryColumns, type DeliveryColumns } from '../delivery-columns.ts'
import { sayMs, sayNumber, sayRate } from '../format.ts'
import type { DeliveriesPicture } from '../picture.ts'
import { areaBetween, capacityLine, drawSpan, looksOf, MOST_STEPS, places, type Places } from './arrivals.ts'
import { text } from './element.ts'
import { axisBelow, axisBeside, boxKey, figure, keys, lineKey, type Box, type Key, type Pattern } from './figure.ts'
import type { Sheet } from './sheet.ts'

const WAITING_HEIGHT = 110
const REQUESTS_HEIGHT = 190
/** Room for the name of the lower panel. */
const BETWEEN = 34

export function deliveriesSvg(picture: DeliveriesPicture, { width, theme }: Sheet): string {
  const columns = deliveryColumns(picture, MOST_STEPS)
  const { bottom: top } = keys(entries(picture, String), width)
  const [left, right] = [64, width - 20]
  const above: Box = { left, right, top: top + 26, bottom: top + 26 + WAITING_HEIGHT }
  const below: Box = { left, right, top: above.bottom + BETWEEN, bottom: above.bottom + BETWEEN + REQUESTS_HEIGHT }
  return figure({
    title: picture.title,
    description: describe(picture, columns),
    width,
    height: below.bottom + 48,
    theme,
    live: { ...below, top: above.top },
    body: patternId => [
      keys(entries(picture, patternId), width).markup,
      ...panels(picture, columns, { above, below, width, patternId }),
    ],
  })
}

interface Layout {
  readonly above: Box
  readonly below: Box
  readonly width: number
  readonly patternId: (pattern: Pattern) => string
}

function panels(picture: DeliveriesPicture, columns: DeliveryColumns, layout: Layout): readonly string[] {
  const { above, below, width, patternId } = layout
  const { capacityPerSecond, spans = [] } = picture
  const x = timeAxis(columns.endMs, width / 90)
  const tasks = amountAxis(columns.mostWaiting, 3, sayNumber)
  const rates = amountAxis(Math.max(columns.peakPerSecond, capacityPerSecond ?? 0), 5, sayNumber)
  const [atTasks, atRates] = [places(x, tasks, above), places(x, rates, below)]
  const seen = spans.filter(({ fromMs }) => fromMs < columns.endMs)
  const fill = patternId('span')
  return [
    ...seen.map(span => drawSpan(span, { at: atTasks, box: above, fill })),
    ...seen.map(span => drawSpan({ ...span, name: '' }, { at: atRates, box: below, fill })),
    ...axes({ above, below, x, tasks, rates, columnMs: columns.columnMs }),
    ...areas(columns, { atTasks, atRates, patternId }),
    ...(capacityPerSecond === undefined ? [] : [capacityLine(capacityPerSecond, { at: atRates, box: below })]),
  ]
}

interface Axes extends Pick<Layout, 'above' | 'below'> {
  readonly x: Axis
  readonly tasks: Axis
  readonly rates: Axis
  readonly columnMs: number
}

function axes({ above, below, x, tasks, rates, columnMs }: Axes): readonly string[] {
  const named = (name: string, { left, top }: Box): string =>
    text(name, { x: left - 8, y: top - 14, 'text-anchor': 'end', class: 'plot-fill-quiet' })
  return [
    axisBeside(tasks, above),
    axisBeside(rates, below),
    axisBelow(x, below, `time, in steps of ${sayMs(columnMs)}`),
    named('tasks', above),
    named('req/s', below),
  ]
}

interface Areas extends Pick<Layout, 'patternId'> {
  readonly atTasks: Places
  readonly atRates: Places
}

function areas(
  { waiting, requests, columnMs, endMs }: DeliveryColumns,
  { atTasks, atRates, patternId }: Areas,
): string[] {
  const nothing = requests.map(() => 0)
  const answered = requests.map(({ first }) => first)
  const all = requests.map(({ total }) => total)
  const time = { columnMs, endMs }
  return [
    areaBetween({ series: 0, below: nothing, above: answered, ...time }, atRates, looksOf('first', patternId)),
    areaBetween({ series: 1, below: answered, above: all, ...time }, atRates, looksOf('retries', patternId)),
    areaBetween({ series: 2, below: nothing, above: waiting, ...time }, atTasks, WAITING),
  ]
}

const WAITING = { class: 'plot-fill-held', 'fill-opacity': '0.75' }

function entries({ capacityPerSecond }: DeliveriesPicture, patternId: (pattern: Pattern) => string): Key[] {
  const line = { class: 'plot-line-dead', 'stroke-dasharray': '8 4' }
  return [
    { name: 'tasks that wait', mark: boxKey(WAITING), series: 2 },
    { name: 'requests answered', mark: boxKey(looksOf('first', patternId)), series: 0 },
    { name: 'requests failed', mark: boxKey(looksOf('retries', patternId)), series: 1 },
    ...(capacityPerSecond === undefined
      ? []
      : [{ name: `capacity ${sayRate(capacityPerSecond)}`, mark: lineKey(line) }]),
  ]
}

function describe(
  { capacityPerSecond, spans = [] }: DeliveriesPicture,
  { endMs, columnMs, mostWaiting, peakPerSecond }: DeliveryColumns,
): string {
  return [
    `Tasks that wait and requests per second over ${sayMs(endMs)}, in steps of ${sayMs(columnMs)}.`,
    `At most ${sayNumber(mostWaiting)} tasks wait, and requests peak at ${sayRate(peakPerSecond)}.`,
    ...(capacityPerSecond === undefined ? [] : [`The capacity is ${sayRate(capacityPerSecond)}.`]),
    ...spans.map(({ name, fromMs, untilMs }) => `${name} from ${sayMs(fromMs)} to ${sayMs(untilMs)}.`),
  ].join(' ')
}
