/**
 * The same kind of message for every document a user writes. A check reports every problem at once: where it is,
 * what stands there, and what would be right.
 */
export interface Problem {
  /** Where: a path such as `retry.maxAttempts`; empty for the document itself. */
  readonly at: string
  /** What stands there. */
  readonly is: unknown
  /** What would be right. */
  readonly say: string
}

/** What a field takes: undefined when the value is right, else the words after "must be". */
export type FieldCheck = (value: unknown) => string | undefined

export type Fields = { readonly [field: string]: FieldCheck }

/** Words that other libraries use, and what to use instead. */
export type WrongWords = { readonly [word: string]: string }

/** All problems of one object's own fields: unknown ones, and values that are not what the field takes. */
export function checkFields(input: object, fields: Fields, wrongWords: WrongWords = {}, path = ''): Problem[] {
  return Object.entries(input).flatMap(([field, value]) => {
    const check = Object.hasOwn(fields, field) ? fields[field] : undefined
    const wanted = value === undefined ? undefined : check?.(value)
    if (check !== undefined && wanted === undefined) return []
    return { at: path + field, is: value, say: wanted ? `must be ${wanted}` : sayUnknown(field, fields, wrongWords) }
  })
}

export function wholeNumber(from: number, to: number): FieldCheck {
  const isBetween = numberBetween(from, to)
  return value => (Number.isInteger(value) && !isBetween(value) ? undefined : `a whole number from ${from} to ${to}`)
}

/** Ten years: a longer wait is a slip of the keyboard. */
const LONGEST_MS = 315_576_000_000

export function milliseconds(from = 0): FieldCheck {
  return wholeNumber(from, LONGEST_MS)
}

export function numberBetween(from: number, to: number): FieldCheck {
  return value =>
    typeof value === 'number' && value >= from && value <= to ? undefined : `a number from ${from} to ${to}`
}

export const flag: FieldCheck = value => (typeof value === 'boolean' ? undefined : 'true or false')

export const aFunction: FieldCheck = value => (typeof value === 'function' ? undefined : 'a function')

export const anObject: FieldCheck = value => (isRecord(value) ? undefined : 'an object')

export function oneOf(...words: readonly unknown[]): FieldCheck {
  return value => (words.includes(value) ? undefined : `one of ${words.join(', ')}`)
}

export function listOf(check: FieldCheck, longest: number): FieldCheck {
  return value =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= longest &&
    Array.from(value).every(entry => !check(entry))
      ? undefined
      : `a list of 1 to ${longest} entries, each ${check(undefined)}`
}

export function text(longest: number): FieldCheck {
  return value =>
    typeof value === 'string' && value.length > 0 && value.length <= longest
      ? undefined
      : `a text of 1 to ${longest} characters`
}

/** What is given: a field that is undefined is not, and must not take a default's place. */
export function withoutUndefined<T extends object>(input: T): { [Field in keyof T]: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never
}

export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** All problems in a few lines, for an error's message. */
export function sayProblems(problems: readonly Problem[]): string {
  return problems.map(({ at, is, say }) => `\n  ${at || 'the document'} ${say} (is ${show(is)})`).join('')
}

export function show(value: unknown): string {
  try {
    return (typeof value === 'string' ? `"${value}"` : String(value)).slice(0, 80)
  } catch {
    // What cannot be written is named by its type: a check must not fail over what it checks.
    return typeof value
  }
}

function sayUnknown(field: string, fields: Fields, wrongWords: WrongWords): string {
  const meant = Object.hasOwn(wrongWords, field)
    ? wrongWords[field]
    : Object.keys(fields).find(known => isNear(field, known))
  return `is an unknown field${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/** The first letter and all others but two, in whatever order and case: most slips of the keyboard, in few lines. */
export function isNear(left: string, right: string): boolean {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()]
  if (a[0] !== b[0]) return false
  return (a + b).split('').filter(letter => !a.includes(letter) || !b.includes(letter)).length <= 2
}
