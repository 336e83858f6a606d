import type { Option } from '../command.ts'

/** What every command takes whose answer is a table. */
export const CSV_OPTION: Option = { flag: '--csv', say: 'the table as comma-separated values' }
