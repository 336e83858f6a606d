/** Tasks and requests, for as many columns as there is room for. */
import { columnsOf, type Column } from './buckets.ts'
import type { DeliveriesPicture } from './picture.ts'

export interface DeliveryColumns {
  /** How much time one column stands for. */
  readonly columnMs: number
  readonly endMs: number
  /** The most tasks that waited in each column. */
  readonly waiting: readonly number[]
  /** Requests a second: `first` are those that were answered, `retries` those that failed. */
  readonly requests: readonly Column[]
  readonly mostWaiting: number
  readonly peakPerSecond: number
}

export function deliveryColumns(picture: DeliveriesPicture, limit: number): DeliveryColumns {
  const { waiting, answered, failed, bucketMs, title } = picture
  const series = [{ name: 'requests', first: padded(answered, waiting.length), retries: failed }]
  const columns = columnsOf({ kind: 'arrivals', title, bucketMs, series }, limit)
  const { columnMs, endMs, peakPerSecond } = columns
  const requests = columns.series.flatMap(one => one.columns)
  const merged = Math.round(columnMs / bucketMs)
  const most = requests.map((_, column) =>
    waiting.slice(column * merged, (column + 1) * merged).reduce((largest, count) => Math.max(largest, count), 0),
  )
  const mostWaiting = most.reduce((largest, count) => Math.max(largest, count), 0)
  return { columnMs, endMs, waiting: most, requests, mostWaiting, peakPerSecond }
}

/** Tasks may wait where no request was made. */
function padded(counts: readonly number[], length: number): readonly number[] {
  return counts.length >= length ? counts : [...counts, ...Array.from({ length: length - counts.length }, () => 0)]
}
