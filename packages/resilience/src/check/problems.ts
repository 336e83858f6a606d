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
  const problems: Problem[] = []
  for (const [field, value] of Object.entries(input)) {
    const check = Object.hasOwn(fields, field) ? fields[field] : undefined
    const wanted = value === undefined ? undefined : check?.(value)
    const say = check === undefined ? sayUnknown(field, fields, wrongWords) : wanted && `must be ${wanted}`
    if (say) problems.push({ at: path + field, is: value, say })
  }
  return problems
}

export function wholeNumber(from: number, to: number, unit = ''): FieldCheck {
  return value =>
    Number.isInteger(value) && (value as number) >= from && (value as number) <= to
      ? undefined
      : `a whole number${unit} from ${from} to ${to}`
}

/** Ten years: a longer wait is a slip of the keyboard. */
const LONGEST_MS = 315_576_000_000

export function milliseconds(from = 0): FieldCheck {
  return wholeNumber(from, LONGEST_MS, ' of milliseconds')
}

export function numberBetween(from: number, to: number): FieldCheck {
  return value =>
    typeof value === 'number' && value >= from && value <= to ? undefined : `a number from ${from} to ${to}`
}

export function oneOf(...words: readonly unknown[]): FieldCheck {
  return value => (words.includes(value) ? undefined : `one of ${words.join(', ')}${nearest(value, words)}`)
}

export function listOf(check: FieldCheck, longest: number): FieldCheck {
  return value => {
    if (!Array.isArray(value) || value.length === 0 || value.length > longest)
      return `a list of 1 to ${longest} entries`
    const wrong = value.findIndex(entry => check(entry) !== undefined)
    return wrong < 0 ? undefined : `a list in which each entry is ${check(value[wrong])} (entry ${wrong} is not)`
  }
}

export function text(longest: number): FieldCheck {
  return value =>
    typeof value === 'string' && value.length > 0 && value.length <= longest
      ? undefined
      : `a text of 1 to ${longest} characters`
}

export function isRecord(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** All problems in a few lines, for an error's message. */
export function sayProblems(problems: readonly Problem[]): string {
  return problems.map(({ at, is, say }) => `\n  ${at || 'the document'} ${say} (is ${show(is)})`).join('')
}

function show(value: unknown): string {
  const shown = typeof value === 'number' || typeof value === 'function' ? String(value) : JSON.stringify(value)
  return shown === undefined ? String(value) : shown.slice(0, 80)
}

function sayUnknown(field: string, fields: Fields, wrongWords: WrongWords): string {
  return Object.hasOwn(wrongWords, field)
    ? `is not a field; use ${wrongWords[field]}`
    : `is an unknown field${nearest(field, Object.keys(fields))}`
}

function nearest(word: unknown, words: readonly unknown[]): string {
  const found = words.find(candidate => typeof word === 'string' && isNear(word, String(candidate)))
  return found === undefined ? '' : `; did you mean ${String(found)}?`
}

/** At most two slips of the keyboard apart, letter case aside. */
function isNear(left: string, right: string, slips = 2): boolean {
  let from = 0
  while (from < left.length && left[from]?.toLowerCase() === right[from]?.toLowerCase()) from++
  const a = left.slice(from)
  const b = right.slice(from)
  if (a === '' || b === '') return a.length + b.length <= slips
  if (slips === 0) return false
  return (
    isNear(a.slice(1), b, slips - 1) || isNear(a, b.slice(1), slips - 1) || isNear(a.slice(1), b.slice(1), slips - 1)
  )
}
