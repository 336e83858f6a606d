/** The share that is reached at a time: a step at each point, none before the first. */
export function shareAt(points: readonly { readonly atMs: number; readonly share: number }[], atMs: number): number {
  let [from, until] = [0, points.length]
  while (from < until) {
    const middle = (from + until) >> 1
    if (points[middle]!.atMs <= atMs) from = middle + 1
    else until = middle
  }
  return from === 0 ? 0 : points[from - 1]!.share
}
