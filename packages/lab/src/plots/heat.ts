/** A heatmap's counts as rates, for as many columns as there is room for. */
import { sumOf } from './buckets.ts'
import type { AttemptHeatmap } from './picture.ts'

export interface Heat {
  readonly rows: readonly (readonly number[])[]
  readonly columns: number
  readonly columnMs: number
  readonly endMs: number
  readonly peakPerSecond: number
}

export function heatOf({ rows, bucketMs }: AttemptHeatmap, limit: number): Heat {
  const length = rows.reduce((longest, row) => Math.max(longest, row.length), 0)
  const merged = Math.ceil(length / limit)
  const columns = Math.ceil(length / merged)
  const rates = rows.map(row =>
    Array.from({ length: columns }, (_, column) => {
      const [from, until] = [column * merged, Math.min(length, (column + 1) * merged)]
      return (1_000 * sumOf(row, from, until)) / ((until - from) * bucketMs)
    }),
  )
  const peakPerSecond = rates.reduce((peak, row) => row.reduce((most, rate) => Math.max(most, rate), peak), 0)
  return { rows: rates, columns, columnMs: merged * bucketMs, endMs: length * bucketMs, peakPerSecond }
}
