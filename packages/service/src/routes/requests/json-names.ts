/**
 * Names that stand twice in one object. JSON allows them and parsers take the last, but whoever checked the first one on
 * the way here has checked something else.
 */
import { endOfString, isNameUntil } from './json-strings.ts'

/** The first name that stands twice in one object of a JSON text. */
export function firstRepeatedName(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '{') open.push(new Set())
    else if (character === '[') open.push(undefined)
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = endOfString(text, at)
      const names = isNameUntil(text, end) ? open.at(-1) : undefined
      const name = names && (JSON.parse(text.slice(at, end)) as string)
      if (name !== undefined && names!.has(name)) return name
      names?.add(name!)
      at = end - 1
    }
  }
  return undefined
}
