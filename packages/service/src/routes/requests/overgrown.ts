export const MOST_FIELDS = 100
export const LONGEST_NAME = 256
export const DEEPEST = 32
/** Fields, and items of lists: the largest task there can be has 1 700, most of them in the lists of its policy. */
export const MOST_PARTS = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** `[` and `{` differ in this bit alone, as do `]` and `}`. */
const CURLY = 0x20
const OPENING = 0x5b | CURLY
const CLOSING = 0x5d | CURLY

/**
 * Whether a text opens more lists and objects within one another, or has more parts, than anything that is taken here.
 * Looked at before it is parsed: millions of them cost the parser seconds, and this the first few bytes.
 */
export function isOvergrown(text: string): boolean {
  let depth = 0
  let parts = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA) parts++
    else if ((code | CURLY) === OPENING) {
      parts++
      if (++depth > DEEPEST) return true
    } else if ((code | CURLY) === CLOSING) depth--
    if (parts > MOST_PARTS) return true
  }
  return false
}

/** At the quote that ends it, or behind a text that it does not end in. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((at - before) % 2 === 1) return at
  }
  return text.length
}

/**
 * How many fields a document has, all its parts included; undefined when an object has more of them, or longer names,
 * than anything that is taken here. Its text must not be overgrown.
 */
export function fieldsIn(document: unknown): number | undefined {
  if (typeof document !== 'object' || document === null) return 0
  // Lists have limits of their own, wherever they are taken.
  if (Array.isArray(document)) return fieldsBelow(document)
  const names = Object.keys(document)
  if (names.length > MOST_FIELDS || names.some(name => name.length > LONGEST_NAME)) return undefined
  const below = fieldsBelow(Object.values(document))
  return below === undefined ? undefined : names.length + below
}

function fieldsBelow(parts: readonly unknown[]): number | undefined {
  let fields = 0
  for (const part of parts) {
    const inside = fieldsIn(part)
    if (inside === undefined) return undefined
    fields += inside
  }
  return fields
}
