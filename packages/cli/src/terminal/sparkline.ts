const BARS = '▁▂▃▄▅▆▇█'
const PLAIN_BARS = '_.:-=+*#'

/** A character for each value, the highest for the largest; a blank for nothing at all. */
export function sparkline(values: readonly number[], isAscii: boolean): string {
  const bars = isAscii ? PLAIN_BARS : BARS
  const largest = Math.max(...values, 0)
  return values
    .map(value => (value <= 0 ? ' ' : bars[Math.ceil((value / largest) * bars.length) - 1]))
    .join('')
    .trimEnd()
}
