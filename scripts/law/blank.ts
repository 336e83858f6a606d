/**
 * The source with its comments, and the insides of its strings and regular expressions, replaced by spaces. Everything
 * else keeps its place, so that an offset in the result is one in the source.
 */
export function blank(source: string): string {
  let result = ''
  // One entry for each `${` we are inside of: the braces that are open in it.
  const openBraces: number[] = []

  while (result.length < source.length) {
    const char = source[result.length]!
    const resumesTemplate = char === '}' && openBraces.at(-1) === 0
    const comment = take(COMMENT, source, result.length)
    if (comment !== undefined) {
      result += spaces(comment)
    } else if (char === '`' || resumesTemplate) {
      if (resumesTemplate) openBraces.pop()
      const chunk = take(TEMPLATE_CHUNK, source, result.length) ?? source.slice(result.length)
      const end = /(?:`|\$\{)$/.exec(chunk.slice(1))?.[0] ?? ''
      if (end === '${') openBraces.push(0)
      result += char + spaces(chunk.slice(1, chunk.length - end.length)) + end
    } else {
      if (openBraces.length > 0) openBraces[openBraces.length - 1]! += BRACE_STEPS[char] ?? 0
      const literal = take(char === '/' && regexMayBegin(result) ? REGEX : STRING, source, result.length)
      result += literal === undefined ? char : char + spaces(literal.slice(1, -1)) + literal.at(-1)
    }
  }
  return result
}

const COMMENT = /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/y
// A quote that finds no partner on its line is none: an apostrophe in the text of a page.
const STRING = /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const TEMPLATE_CHUNK = /[`}](?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y

const BRACE_STEPS: { readonly [char: string]: number } = { '{': 1, '}': -1 }

function take(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

function spaces(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

/** After a value a slash divides; anywhere else it begins a regular expression. */
function regexMayBegin(before: string): boolean {
  return /(?:^|[=(,;:!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|yield|throw|void|delete))$/.test(
    before.slice(-200).trimEnd(),
  )
}
