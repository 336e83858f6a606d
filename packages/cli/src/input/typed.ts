/** The command as it was typed, to be typed again. */
export function typed(words: readonly string[]): string {
  return ['secondwind', ...words.map(quoted)].join(' ')
}

/** The same with another value of one flag. */
export function typedWith(words: readonly string[], flag: string, value: string): string {
  const at = words.indexOf(flag)
  const others = at < 0 ? words : words.toSpliced(at, 2)
  return typed([...others, flag, value])
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./%,=:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
