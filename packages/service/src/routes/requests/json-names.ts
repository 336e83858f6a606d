/**
 * Names that stand twice in one object. JSON allows them and parsers take the last, but whoever checked the first one on
 * the way here has checked something else.
 */

const QUOTE = '"'
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20

/** How many names a text has. It must be JSON. */
export function namesIn(text: string): number {
  let names = 0
  for (let start = text.indexOf(QUOTE); start >= 0;) {
    const end = endOfString(text, start)
    if (text.charCodeAt(skipSpace(text, end)) === COLON) names++
    start = text.indexOf(QUOTE, end)
  }
  return names
}

/** The first name that stands twice in one object of a JSON text. */
export function firstRepeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '{') open.push(new Set())
    else if (character === '[') open.push(undefined)
    else if (character === '}' || character === ']') open.pop()
    else if (character === QUOTE) {
      const end = endOfString(text, at)
      const names = text.charCodeAt(skipSpace(text, end)) === COLON ? open.at(-1) : undefined
      const name = names && (JSON.parse(text.slice(at, end)) as string)
      if (name !== undefined && names!.has(name)) return name
      names?.add(name!)
      at = end - 1
    }
  }
  return undefined
}

/** Behind the quote that ends it; between them the text is not looked at character by character. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf(QUOTE, start + 1)
  while (isEscaped(text, end)) end = text.indexOf(QUOTE, end + 1)
  return end + 1
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= SPACE) at++
  return at
}
