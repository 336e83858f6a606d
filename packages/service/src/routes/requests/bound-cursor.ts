import { createHash } from 'node:crypto'
import { InvalidCursorError, type Page } from '../../stores/task-store.ts'

/** What was asked for besides the place, under which a cursor was given. */
type Question = { readonly [name: string]: string | number | boolean | undefined }

const MARK_LENGTH = 8

/**
 * Where a page begins, for the store. A cursor carries the mark of the question that it belongs to: under another filter its
 * place would lie anywhere in the list, and what is skipped would never be missed.
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
