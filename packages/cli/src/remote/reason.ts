import type { GivenOptions, Option } from '../command.ts'
import { optional, readOptions, text } from '../input/read-options.ts'

/** For whoever reads the audit later. */
export const REASON_OPTION: Option = { flag: '--reason <text>', say: 'why, for the audit: INC-2231' }

export function reasonOf(options: GivenOptions): { readonly reason?: string } {
  const { reason } = readOptions(options, { reason: optional(text()) })
  return reason === undefined ? {} : { reason }
}
