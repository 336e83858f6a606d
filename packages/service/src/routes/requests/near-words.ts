import { check } from '@secondwind/resilience/rules'

/** Nobody mistypes a word of this length for one of ours, and comparing it would take long. */
const LONGEST_WORD = 64

/** `; did you mean …?` when a known word is near, else nothing. */
export function didYouMean(word: string, known: Iterable<string>, others: check.WrongWords = {}): string {
  const meant = Object.hasOwn(others, word) ? others[word] : nearest(word, known)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined
  for (const each of known) if (check.isNear(word, each)) return each
  return undefined
}
