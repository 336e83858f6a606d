import { createHash } from 'node:crypto'
import { InvalidCursorError, type Page } from '../../stores/store.ts'

/** Everything that a list was asked for but the place: whose things, and by which filter. */
type Question = { readonly [name: string]: string | number | boolean | undefined }

const MARK_LENGTH = 8

/**
 * Where a page begins, for the store. A cursor carries the mark of its question: under another filter its place would lie
 * anywhere in the list, and the caller would not notice the items that it skips. The mark is no secret and protects nothing: a caller can
 * make one up. Whose things are listed is in the question, which is made from the caller, and never in the cursor.
 */
export function openCursor(cursor: string | undefined, question: Question): { readonly cursor?: string } {
  if (cursor === undefined) return {}
  const mark = cursor.slice(0, MARK_LENGTH)
  if (mark !== markOf(question)) throw new InvalidCursorError('this list and filter')
  return { cursor: cursor.slice(MARK_LENGTH) }
}

export function bindCursor<P extends Page<unknown>>(page: P, question: Question): P {
  const { nextCursor } = page
  return nextCursor === undefined ? page : { ...page, nextCursor: markOf(question) + nextCursor }
}

function markOf(question: Question): string {
  const asked = Object.entries(question).filter(([, value]) => value !== undefined)
  const text = JSON.stringify(asked.toSorted(([left], [right]) => (left < right ? -1 : 1)))
  return createHash('sha256').update(text).digest('base64url').slice(0, MARK_LENGTH)
}
