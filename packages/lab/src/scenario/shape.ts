import type { Problem } from '@secondwind/resilience'

/** What a value must be, all the way down: every problem, each with its path. */
export type Shape = (value: unknown, at: string) => Problem[]

export function wholeNumber(from: number, to: number): Shape {
  return must(value => Number.isInteger(value) && isBetween(value, from, to), `a whole number from ${from} to ${to}`)
}

export function numberBetween(from: number, to: number): Shape {
  return must(value => isBetween(value, from, to), `a number from ${from} to ${to}`)
}

/** Simulated time need not be whole. Ten years: a longer one is a slip of the keyboard. */
export function duration(from = 0): Shape {
  return must(value => isBetween(value, from, LONGEST_MS), `milliseconds from ${from} to ${LONGEST_MS}, ten years`)
}

const LONGEST_MS = 315_576_000_000

export const text: Shape = must(
  value => typeof value === 'string' && value.length > 0 && value.length <= 200,
  'a text of 1 to 200 characters',
)

export const flag: Shape = must(value => typeof value === 'boolean', 'true or false')

export function oneOf(...words: readonly string[]): Shape {
  return must(value => words.includes(value as string), `one of ${words.join(', ')}`)
}

export function listOf(shape: Shape, longest: number): Shape {
  return (value, at) =>
    Array.isArray(value) && value.length > 0 && value.length <= longest
      ? value.flatMap((entry: unknown, place) => shape(entry, `${at}.${place}`))
      : [{ at, is: value, say: `must be a list of 1 to ${longest} entries` }]
}

/** A list of millions has one slip in every entry, and is told of the first few. */
export function shortly(list: Shape): Shape {
  return (value, at) => {
    const problems = list(value, at)
    const left = problems.length - MOST_TOLD
    if (left <= 0) return problems
    return [...problems.slice(0, MOST_TOLD), { at, is: undefined, say: `has ${left} more like these` }]
  }
}

const MOST_TOLD = 10

export function namedBy(shape: Shape, most: number): Shape {
  return (value, at) =>
    isRecord(value) && Object.keys(value).length <= most
      ? Object.entries(value).flatMap(([name, entry]) => shape(entry, `${at}.${name}`))
      : [{ at, is: value, say: `must be an object with at most ${most} names` }]
}

export type Shapes = { readonly [field: string]: Shape }

/** An object with these fields: all of `required`, any of `optional`, and no others. */
export function record(required: Shapes, optional: Shapes = {}, wrongWords: WrongWords = {}): Shape {
  const fields = { ...required, ...optional }
  return (value, at) => {
    if (!isRecord(value)) return [{ at, is: value, say: `must be an object with ${Object.keys(fields).join(', ')}` }]
    const missing = Object.keys(required).filter(field => value[field] === undefined)
    return [
      ...missing.map(field => ({ at: below(at, field), is: undefined, say: 'must be given' })),
      ...Object.entries(value)
        .filter(([, entry]) => entry !== undefined)
        .flatMap(([field, entry]) => {
          if (Object.hasOwn(fields, field)) return fields[field]!(entry, below(at, field))
          return [{ at: below(at, field), is: entry, say: sayUnknown(field, Object.keys(fields), wrongWords) }]
        }),
    ]
  }
}

/** What other programs call it, and what it is here. */
export type WrongWords = { readonly [word: string]: string }

/** One of several objects, told apart by their `kind`. */
export function byKind(
  kinds: { readonly [kind: string]: readonly [required: Shapes, optional?: Shapes] },
  wrongWords: WrongWords = {},
): Shape {
  return (value, at) => {
    const kind = isRecord(value) ? value['kind'] : undefined
    const shapes = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (shapes !== undefined) return record({ kind: text, ...shapes[0] }, shapes[1], wrongWords)(value, at)
    const near = typeof kind === 'string' ? nearestOf(kind, Object.keys(kinds)) : undefined
    const say = `must be one of ${Object.keys(kinds).join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`
    return [{ at: below(at, 'kind'), is: kind, say }]
  }
}

export function below(at: string, field: string): string {
  return at === '' ? field : `${at}.${field}`
}

function sayUnknown(word: string, known: readonly string[], wrongWords: WrongWords = {}): string {
  const meant = Object.hasOwn(wrongWords, word) ? wrongWords[word] : nearestOf(word, known)
  return `is an unknown field${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/** The known word that is fewest slips away, if that is at most a third of it. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map(other => ({ other, slips: slipsBetween(word.toLowerCase(), other.toLowerCase()) }))
    .toSorted((one, another) => one.slips - another.slips)
  return nearest !== undefined && nearest.slips <= Math.max(1, nearest.other.length / 3) ? nearest.other : undefined
}

/** Letters to add, drop or change (Levenshtein, 1966). */
function slipsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (let place = 0; place < one.length; place++) {
    const next = [place + 1]
    for (let column = 1; column <= other.length; column++)
      next[column] = Math.min(
        next[column - 1]! + 1,
        row[column]! + 1,
        row[column - 1]! + (one[place] === other[column - 1] ? 0 : 1),
      )
    row = next
  }
  return row[other.length]!
}

export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function must(isRight: (value: unknown) => boolean, words: string): Shape {
  return (value, at) => (isRight(value) ? [] : [{ at, is: value, say: `must be ${words}` }])
}

function isBetween(value: unknown, from: number, to: number): boolean {
  return typeof value === 'number' && value >= from && value <= to
}
