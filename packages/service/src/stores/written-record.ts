import assert from 'node:assert/strict'
import type { StoredRecord } from './store.ts'

/** The record that a write was about, if it was not removed: it comes first in the call. */
export function writtenRecord({ records: [first] }: { readonly records: readonly StoredRecord[] }): StoredRecord {
  assert(first !== undefined, 'a record that was written is in the answer')
  return first
}
