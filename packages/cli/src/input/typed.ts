import type { GivenOptions, Option } from '../command.ts'
import { flagOf } from './read-options.ts'

/** A command, to be pasted into a POSIX shell. */
export function typed(words: readonly string[]): string {
  return ['secondwind', ...words.map(quoted)].join(' ')
}

/** The same with another value of one flag, without the files that it wrote: they are not written over unasked. */
export function typedWith(words: readonly string[], flag: string, value: string): string {
  return typed([...['--svg', '--html', flag].reduce(without, words), flag, value])
}

/** What was read from stdin is not there any more when a command is pasted. */
export function readsInput(words: readonly string[]): boolean {
  return words.some(word => word === '-' || word.endsWith('=-'))
}

/** Whichever way it was typed: `--flag value` or `--flag=value`. */
function without(words: readonly string[], flag: string): readonly string[] {
  return words.filter((word, at) => word !== flag && words[at - 1] !== flag && !word.startsWith(`${flag}=`))
}

/** Those of the options that were given, as words of another command that takes them, too. */
export function retyped(given: GivenOptions, options: readonly Option[]): readonly string[] {
  return options.flatMap(({ flag: usage }) => {
    const [flag = ''] = usage.split(' ')
    const name = Object.keys(given).find(key => flagOf(key) === flag)
    const value = name === undefined ? undefined : given[name]
    if (value === undefined || value === false) return []
    return value === true ? [flag] : [value].flat().flatMap(one => [flag, one])
  })
}

/** A word as a POSIX shell reads it back. */
export function quoted(word: string): string {
  return /^[\w./%,=:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
