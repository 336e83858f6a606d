/** Names from outside, made harmless for a terminal, and as wide as they will be. */

/** Control characters, escapes and marks that turn the direction of writing would draw where they like. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u

export function plainLabel(text: string, isAscii: boolean): string {
  const printable = text.replaceAll(/\s+/g, ' ').replaceAll(UNPRINTABLE, '').trim()
  return isAscii ? printable.replaceAll('×', 'x').replaceAll(/[^ -~]/gu, '?') : printable
}

/** Columns that a terminal gives to a text. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** At most so wide; what is cut off leaves an ellipsis. */
export function clipped(text: string, columns: number, ellipsis: string): string {
  if (widthOf(text) <= columns) return text
  const room = columns - ellipsis.length
  if (room < 0) return ''
  let [kept, width] = ['', 0]
  for (const character of text) {
    width += characterWidth(character)
    if (width > room) break
    kept += character
  }
  return kept.trimEnd() + ellipsis
}

export function padStartTo(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - widthOf(text))) + text
}

function characterWidth(character: string): number {
  if (/\p{M}/u.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}
