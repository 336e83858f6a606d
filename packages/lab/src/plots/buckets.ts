/** Counts in buckets, as rates, for as many columns as there is room for. */
import type { ArrivalsPicture, ArrivalSeries, NamedSpan } from './picture.ts'

/** Calls a second in one piece of time, by why they were made. */
export interface Column {
  readonly first: number
  readonly retries: number
  readonly hedges: number
  readonly total: number
}

export interface Columns {
  /** How much time one column stands for. */
  readonly columnMs: number
  readonly series: readonly { readonly name: string; readonly columns: readonly Column[] }[]
  readonly endMs: number
  readonly peakPerSecond: number
}

/** Neighbours are added up until no more than `limit` columns are left; rates are means over the column. */
export function columnsOf({ series, bucketMs }: ArrivalsPicture, limit: number): Columns {
  const length = Math.max(...series.map(bucketsIn))
  const merged = Math.ceil(length / limit)
  const columnMs = merged * bucketMs
  const columns = series.map(one => ({ name: one.name, columns: rates(one, { length, merged, bucketMs }) }))
  const all = columns.flatMap(one => one.columns)
  const peakPerSecond = all.reduce((peak, { total }) => Math.max(peak, total), 0)
  return { columnMs, series: columns, endMs: length * bucketMs, peakPerSecond }
}

function bucketsIn({ first, retries, hedges = [] }: ArrivalSeries): number {
  return Math.max(first.length, retries.length, hedges.length)
}

function rates(
  { first, retries, hedges = [] }: ArrivalSeries,
  { length, merged, bucketMs }: { length: number; merged: number; bucketMs: number },
): Column[] {
  return Array.from({ length: Math.ceil(length / merged) }, (_, index) => {
    const [from, until] = [index * merged, Math.min(length, (index + 1) * merged)]
    // The last column may be shorter than the others: its rate is of its own time.
    const perSecond = 1_000 / ((until - from) * bucketMs)
    const rate = (counts: readonly number[]): number => sumOf(counts, from, until) * perSecond
    const column = { first: rate(first), retries: rate(retries), hedges: rate(hedges) }
    return { ...column, total: column.first + column.retries + column.hedges }
  })
}

/** What began before the picture ends: the rest would be drawn at an edge where it was not. */
export function spansBefore(endMs: number, { spans = [] }: ArrivalsPicture): readonly NamedSpan[] {
  return spans.filter(({ fromMs }) => fromMs < endMs)
}

export function sumOf(counts: readonly number[], from: number, until: number): number {
  let sum = 0
  for (let index = from; index < until; index++) sum += counts[index] ?? 0
  return sum
}

/** What the lowest layer is: a tier's first attempts are made by the retries of those above it, too. */
export function sayFirst({ firstAttemptsOf }: ArrivalsPicture): string {
  return firstAttemptsOf === undefined ? 'first attempts' : `first attempts of ${firstAttemptsOf}`
}
