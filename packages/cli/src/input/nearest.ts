import { check } from '@secondwind/resilience/rules'

/** What is longer is no slip of somebody's fingers, and comparing it would take long. */
const LONGEST = 200

/** Of the known words that are near, the one with the fewest letters to change. */
export function nearest(
  word: string,
  known: readonly string[],
  isNear: (left: string, right: string) => boolean = check.isNear,
): string | undefined {
  if (word.length > LONGEST) return undefined
  const [found] = known
    .filter(one => one.length <= LONGEST && isNear(word, one))
    .map(one => ({ one, edits: editsBetween(word, one) }))
    .toSorted((left, right) => left.edits - right.edits)
  return found?.one
}

/** For a word of a short list, where little is to be mistaken: also with a third of its letters wrong, and another ending. */
export function isAlike(left: string, right: string): boolean {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()]
  return check.isNear(a, b) || (a[0] === b[0] && 3 * editsBetween(a, b) <= b.length)
}

/** Letters to add, remove or replace (Levenshtein, row by row). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1]
    for (let at = 1; at <= to.length; at++) {
      const replaced = row[at - 1]! + (to[at - 1] === letter ? 0 : 1)
      next.push(Math.min(replaced, row[at]! + 1, next[at - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
