import type { Measured } from '@secondwind/lab'
import { unsaid, type Cell } from '../terminal/table.ts'

const NUMBERS = ['theirs', 'ours', 'least', 'most'] as const

/** Of what was told and what came out. Each row is about something else, so that its unit stands beside its numbers. */
export const MEASURED_FIELDS: readonly string[] = ['unit', ...NUMBERS]

/** In the order of the fields; all empty where it is about no number. */
export function measuredCells(measured: Measured | undefined): readonly Cell[] {
  return [measured?.unit ?? '', ...NUMBERS.map(field => unsaid(measured?.[field]))]
}
