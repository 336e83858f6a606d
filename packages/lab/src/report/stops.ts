/** Where the pointer can stop in a picture, and what is said there. */
import { columnsOf, sayFirst } from '../plots/buckets.ts'
import { deliveryColumns } from '../plots/delivery-columns.ts'
import { sayMs, sayNumber, sayRate, sayShare, unitFor } from '../plots/format.ts'
import type { ArrivalsPicture, DeliveriesPicture, DistributionPicture, Picture } from '../plots/picture.ts'
import { problemOf } from '../plots/problem.ts'
import { shareAt } from '../plots/share-at.ts'
import { distributionAxis } from '../plots/spread.ts'
import { MOST_STEPS } from '../plots/svg/arrivals.ts'

export interface Stops {
  /** What a stop is: a time, a span of time. */
  readonly at: string
  /** What has a value at each stop, and by which number the picture knows it. */
  readonly series: readonly { readonly name: string; readonly index: number }[]
  readonly stops: readonly Stop[]
}

export interface Stop {
  /** Between the left end of the axis, 0, and the right, 1. */
  readonly place: number
  readonly say: string
  readonly values: readonly string[]
}

/** Undefined for pictures whose shapes say themselves what they are. */
export function stopsOf(picture: Picture): Stops | undefined {
  if (problemOf(picture) !== undefined) return undefined
  if (picture.kind === 'arrivals') return arrivalStops(picture)
  if (picture.kind === 'deliveries') return deliveryStops(picture)
  return picture.kind === 'cdf' ? distributionStops(picture) : undefined
}

function arrivalStops(picture: ArrivalsPicture): Stops {
  const { series, columnMs, endMs } = columnsOf(picture, MOST_STEPS)
  const unit = unitFor(endMs)
  const kinds = (['first', 'retries', 'hedges'] as const)
    .map((kind, index) => ({ kind, name: kind === 'first' ? sayFirst(picture) : kind, index }))
    .filter(({ kind }) => series[0]!.columns.some(column => column[kind] > 0))
  const isStacked = series.length === 1
  return {
    at: `from, for ${sayMs(columnMs)}`,
    series: isStacked
      ? kinds.map(({ name, index }) => ({ name, index }))
      : series.map(({ name }, index) => ({ name, index })),
    stops: series[0]!.columns.map((column, step) => ({
      place: Math.min(1, ((step + 0.5) * columnMs) / endMs),
      say: sayMs(step * columnMs, unit),
      values: isStacked
        ? kinds.map(({ kind }) => sayRate(column[kind]))
        : series.map(({ columns }) => sayRate(columns[step]!.total)),
    })),
  }
}

function deliveryStops(picture: DeliveriesPicture): Stops {
  const { requests, waiting, columnMs, endMs } = deliveryColumns(picture, MOST_STEPS)
  const unit = unitFor(endMs)
  return {
    at: `from, for ${sayMs(columnMs)}`,
    series: ['answered', 'failed', 'tasks that wait'].map((name, index) => ({ name, index })),
    stops: requests.map(({ first, retries }, step) => ({
      place: Math.min(1, ((step + 0.5) * columnMs) / endMs),
      say: sayMs(step * columnMs, unit),
      values: [sayRate(first), sayRate(retries), sayNumber(waiting[step] ?? 0)],
    })),
  }
}

/** Enough that the pointer finds one within a few pixels. */
const DISTRIBUTION_STOPS = 100

function distributionStops(picture: DistributionPicture): Stops {
  const axis = distributionAxis(picture)
  const unit = unitFor(axis.max)
  const isLog = picture.scale === 'log'
  return {
    at: 'served within',
    series: picture.series.map(({ name }, index) => ({ name, index })),
    stops: Array.from({ length: DISTRIBUTION_STOPS + 1 }, (_, stop) => {
      const place = stop / DISTRIBUTION_STOPS
      const atMs = isLog ? axis.min * (axis.max / axis.min) ** place : axis.max * place
      return {
        place,
        say: isLog ? sayMs(atMs) : sayMs(atMs, unit),
        values: picture.series.map(({ points }) => sayShare(shareAt(points, atMs))),
      }
    }),
  }
}
