import type { Problem } from '@secondwind/resilience'

const RANGES = [
  ['createdFrom', 'createdTo'],
  ['endedFrom', 'endedTo'],
] as const

type Filter = { readonly [end in (typeof RANGES)[number][number]]?: unknown }

/** Spans of time that nothing can be in, though each end be an instant; what is none, a schema tells. */
export function problemsOfRanges(filter: Filter): Problem[] {
  return RANGES.flatMap(([from, to]) => {
    const [first, end] = [filter[from], filter[to]]
    const isEmpty = typeof first === 'number' && typeof end === 'number' && first >= end
    return isEmpty ? [{ at: from, is: first, say: `must be earlier than ${to}` }] : []
  })
}
