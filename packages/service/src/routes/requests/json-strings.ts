const QUOTE = '"'
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20

/**
 * Behind the quote that ends the string whose first quote is at `start`, or behind a text that it does not end in. Between
 * them the text is not looked at character by character.
 */
export function endOfString(text: string, start: number): number {
  for (let at = text.indexOf(QUOTE, start + 1); at >= 0; at = text.indexOf(QUOTE, at + 1))
    if (!isEscaped(text, at)) return at + 1
  return text.length
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

/** Whether a string that ends here is the name of a field. */
export function isNameUntil(text: string, end: number): boolean {
  let at = end
  while (text.charCodeAt(at) <= SPACE) at++
  return text.charCodeAt(at) === COLON
}
