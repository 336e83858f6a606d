import type { Estimate } from '@secondwind/lab'
import { unsaid, type Cell, type Column } from '../terminal/table.ts'

const ENDS = ['low', 'high'] as const

/** A mean, and for other programs, where there are several runs, where the true one lies in nineteen cases of twenty. */
export function estimateColumns(column: Column & { readonly field: string }, runs: number): readonly Column[] {
  if (runs === 1) return [column]
  return [column, ...ENDS.map(end => ({ name: column.field + CAPITAL[end], isOnlyData: true as const }))]
}

const CAPITAL = { low: 'Low', high: 'High' }

/** Empty where there is none. */
export function estimateCells(
  found: Estimate | undefined,
  { say, runs }: { say: (value: number) => string; runs: number },
): readonly Cell[] {
  const mean: Cell = { value: found?.mean, say: found === undefined ? '' : say(found.mean) }
  return runs === 1 ? [mean] : [mean, ...ENDS.map(end => unsaid(found?.[end]))]
}
