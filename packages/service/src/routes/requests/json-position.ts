/** Where a text stops being JSON (RFC 8259). The parser's own message names a place only sometimes, and quotes the text. */
export interface JsonPosition {
  readonly offset: number
  /** Both begin at 1. */
  readonly line: number
  readonly column: number
  /** What would have to stand there; absent in the middle of a text or a word. */
  readonly wanted?: string
}

/** What may come next: a value, a name, what stands between them, or the end of what is open. */
type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing'

/** The first place at which the text cannot go on; its end when something is missing there. */
export function whereJsonFails(text: string): JsonPosition {
  const open: Opening[] = []
  let expected: Expected = 'value'
  for (let at = skip(SPACE, text, 0); ; at = skip(SPACE, text, at)) {
    const next = follow(expected, text[at], open)
    if (next === undefined) return { ...placeOf(text, at), wanted: sayWanted(expected, open) }
    const { end, isWhole } = readToken(text, at)
    if (!isWhole) return placeOf(text, end)
    expected = next
    at = end
  }
}

type Opening = '{' | '['

function sayWanted(expected: Expected, open: readonly Opening[]): string {
  switch (expected) {
    case 'value':
      return 'a value'
    case 'value-or-end':
      return 'a value or ]'
    case 'name':
      return 'a name in double quotes'
    case 'name-or-end':
      return 'a name in double quotes or }'
    case 'colon':
      return 'a colon'
    case 'comma-or-end':
      return `a comma or ${open.at(-1) === '{' ? '}' : ']'}`
    case 'nothing':
      return 'the end'
  }
}

/** What is expected after a token that begins so; undefined when it must not stand there. Keeps what is open. */
function follow(expected: Expected, first: string | undefined, open: Opening[]): Expected | undefined {
  const inside = open.at(-1)
  switch (expected) {
    case 'nothing':
      return undefined
    case 'colon':
      return first === ':' ? 'value' : undefined
    case 'name':
    case 'name-or-end':
      if (first === '}' && expected === 'name-or-end') return close(open)
      return first === '"' ? 'colon' : undefined
    case 'comma-or-end':
      if (first === ',') return inside === '{' ? 'name' : 'value'
      return first === (inside === '{' ? '}' : ']') ? close(open) : undefined
    case 'value':
    case 'value-or-end':
      if (first === ']' && expected === 'value-or-end') return close(open)
      if (first === '{' || first === '[') return enter(first, open)
      return first !== undefined && /["\-\dtfn]/.test(first) ? afterValue(open) : undefined
  }
}

function enter(opening: Opening, open: Opening[]): Expected {
  open.push(opening)
  return opening === '{' ? 'name-or-end' : 'value-or-end'
}

function close(open: Opening[]): Expected {
  open.pop()
  return afterValue(open)
}

function afterValue(open: readonly Opening[]): Expected {
  return open.length === 0 ? 'nothing' : 'comma-or-end'
}

const PUNCTUATION = '{}[],:'
const SPACE = /[ \t\n\r]*/y
const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|/y

/** Where a token ends, or where it goes wrong. */
function readToken(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
  if (text[start] === '"') return readString(text, start + 1)
  if (PUNCTUATION.includes(text[start]!)) return { end: start + 1, isWhole: true }
  const end = skip(WORD, text, start)
  return { end, isWhole: end > start }
}

/** By hand: an expression would have to remember every place to which it could go back. */
function readString(text: string, start: number): { readonly end: number; readonly isWhole: boolean } {
  let at = start
  while (at < text.length && text[at] !== '"' && text[at]! >= ' ') {
    const next = text[at] === '\\' ? skip(ESCAPE, text, at) : at + 1
    if (next === at) break
    at = next
  }
  return text[at] === '"' ? { end: at + 1, isWhole: true } : { end: at, isWhole: false }
}

function skip(expression: RegExp, text: string, start: number): number {
  expression.lastIndex = start
  expression.test(text)
  return expression.lastIndex
}

function placeOf(text: string, offset: number): JsonPosition {
  const before = text.slice(0, offset)
  return { offset, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
