import { endOfString, isNameUntil } from './json-strings.ts'

export const MOST_FIELDS = 100
export const LONGEST_NAME = 256
export const DEEPEST = 32
/** Fields, and items of lists: the largest task there can be has 1 700, most of them in the lists of its policy. */
export const MOST_PARTS = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
/** `[` and `{` differ in this bit alone, as do `]` and `}`. */
const CURLY = 0x20
const OPENING = 0x5b | CURLY
const CLOSING = 0x5d | CURLY

/**
 * How many names a JSON text has; undefined when it opens more lists and objects within one another, or has more parts,
 * than anything that is taken here. Looked at before it is parsed: millions of them cost the parser seconds, and this the
 * first few bytes.
 */
export function namesIn(text: string): number | undefined {
  let depth = 0
  let parts = 0
  let names = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      if (isNameUntil(text, end)) names++
      at = end - 1
    } else if (code === COMMA) parts++
    else if ((code | CURLY) === OPENING) {
      parts++
      if (++depth > DEEPEST) return undefined
    } else if ((code | CURLY) === CLOSING) depth--
    if (parts > MOST_PARTS) return undefined
  }
  return names
}

/**
 * How many fields a document has, all its parts included; undefined when an object has more of them, or longer names,
 * than anything that is taken here. Its text must not be overgrown.
 */
export function fieldsIn(document: unknown): number | undefined {
  if (typeof document !== 'object' || document === null) return 0
  // Lists have limits of their own, wherever they are taken.
  const isList = Array.isArray(document)
  let own = 0
  let below = 0
  for (const name in document) {
    own++
    if (!isList && (own > MOST_FIELDS || name.length > LONGEST_NAME)) return undefined
    const inside = fieldsIn((document as { readonly [name: string]: unknown })[name])
    if (inside === undefined) return undefined
    below += inside
  }
  return isList ? below : own + below
}
