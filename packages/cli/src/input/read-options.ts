import { redact } from '@secondwind/client'
import type { Problem } from '@secondwind/resilience'
import type { GivenOption, GivenOptions } from '../command.ts'
import { problemsFailure, type Failure } from '../failure.ts'
import { isAlike, nearest } from './nearest.ts'

/** From what was typed (undefined: nothing) to a value, or to the words after "must be". */
export type Reader<Value> = (given: GivenOption) => { readonly value: Value } | { readonly must: string }

type Readers = { readonly [name: string]: Reader<unknown> }
export type Values<R extends Readers> = {
  readonly [Name in keyof R]: R[Name] extends Reader<infer Value> ? Value : never
}

/** The options as values; all that is wrong with them, and with what was read before, is said at once. */
export function readOptions<const R extends Readers>(
  given: GivenOptions,
  readers: R,
  before: readonly Problem[] = [],
): Values<R> {
  const problems = [...before, ...optionProblems(given, readers)]
  if (problems.length > 0) throw wrongOptions(problems)
  const values = Object.entries(readers).map(([name, read]) => [name, (read(given[name]) as { value: unknown }).value])
  return Object.fromEntries(values) as Values<R>
}

export function optionProblems(given: GivenOptions, readers: Readers): Problem[] {
  return Object.entries(readers).flatMap(([name, read]) => {
    const answer = read(given[name])
    if (!('must' in answer)) return []
    const is = shown(name, given[name])
    return [{ at: flagOf(name), is, say: `${is === undefined ? MISSING : 'must be'} ${answer.must}` }]
  })
}

/** What was typed, without what is secret in it. Whoever gave a flag once that may be repeated typed no list. */
export function shown(name: string, given: GivenOption): unknown {
  if (!Array.isArray(given)) return redact(name, given)
  const each = given.map((one: string) => redact(name, one))
  return each.length === 1 ? each[0] : each
}

/** Of two that say the same in other words only one may be given. */
export function exclusionProblems(given: GivenOptions, ...pairs: readonly (readonly [string, string])[]): Problem[] {
  return pairs
    .filter(([one, other]) => given[one] !== undefined && given[other] !== undefined)
    .map(([one, other]) => ({
      at: flagOf(one),
      is: shown(one, given[one]),
      say: `must not stand beside ${flagOf(other)}`,
    }))
}

/** What was not typed cannot be read wrong. */
const MISSING = 'must be given:'

export function wrongOptions(problems: readonly Problem[]): Failure {
  const areMissing = problems.every(({ say }) => say.startsWith(MISSING))
  const which = problems.length === 1 ? problems[0]!.at : `${problems.length} ${areMissing ? 'options' : 'values'}`
  return areMissing
    ? problemsFailure({ code: 'missing-option', what: `${which} must be given` }, problems)
    : problemsFailure({ code: 'wrong-option', what: `${which} cannot be read` }, problems)
}

/** `--max-peak` for maxPeak; an argument, `<shell>`, is called as in the help, and a variable by its name. */
export function flagOf(name: string): string {
  return /^(?:<|[A-Z_]+$)/.test(name) ? name : `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

/** What is not given has this value. */
export function withDefault<Value>(value: Value, read: Reader<Value>): Reader<Value> {
  return given => (given === undefined ? { value } : read(given))
}

/** What is not given is left undefined. */
export function optional<Value>(read: Reader<Value>): Reader<Value | undefined> {
  return given => (given === undefined ? { value: undefined } : read(given))
}

export const isOn: Reader<boolean> = given => ({ value: given === true })

export function text(): Reader<string> {
  return given => (typeof given === 'string' && given !== '' ? { value: given } : { must: 'a text' })
}

export function numberBetween(from: number, to: number, unit = ''): Reader<number> {
  return given => {
    const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : Number.NaN
    return value >= from && value <= to ? { value } : { must: `a number from ${from} to ${to}${unit}` }
  }
}

export function wholeNumber(from: number, to: number): Reader<number> {
  return given => {
    const value = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : Number.NaN
    return value >= from && value <= to ? { value } : { must: `a whole number from ${from} to ${to}` }
  }
}

/** `yes` and `no`, and nothing that could be either. */
export const yesOrNo: Reader<boolean> = given => {
  const word = typeof given === 'string' ? given.trim().toLowerCase() : ''
  if (['yes', 'y'].includes(word)) return { value: true }
  return ['no', 'n'].includes(word) ? { value: false } : { must: 'yes or no' }
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Reader<Word> {
  return given => {
    const value = words.find(word => word.toLowerCase() === String(given).toLowerCase())
    if (value !== undefined) return { value }
    const meant = nearest(String(given).toLowerCase(), words, isAlike)
    return { must: `one of ${words.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}` }
  }
}

/** `a,b,c`, each read by the same reader. */
export function listOf<Value>(read: Reader<Value>): Reader<readonly Value[]> {
  return given => {
    const answers = String(given)
      .split(',')
      .map(entry => read(entry.trim()))
    const values = answers.flatMap(answer => ('value' in answer ? [answer.value] : []))
    const wrong = answers.find(answer => 'must' in answer)
    return wrong === undefined ? { value: values } : { must: `a list, separated by commas, each ${wrong.must}` }
  }
}

const UNITS_MS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** `250ms`, `30s`, `5min`, `24h`: whole milliseconds. Only of nothing, `0`, everybody knows how long it is without a unit. */
export function duration(fromMs: number, toMs: number): Reader<number> {
  return given => {
    const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(given === '0' ? '0ms' : String(given)) ?? []
    if (amount !== '' && unit === '') return { must: `a duration with its unit: ${amount}s or ${amount}min, say` }
    const value = Math.round(Number(amount === '' ? Number.NaN : amount) * (UNITS_MS[unit] ?? Number.NaN))
    return value >= fromMs && value <= toMs
      ? { value }
      : { must: `a duration such as 250ms, 30s, 5min or 24h, from ${fromMs} to ${toMs} ms` }
  }
}

/** `300` or `300/s`. */
export function perSecond(): Reader<number> {
  return given => {
    const [, amount] = /^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(String(given)) ?? []
    const value = Number(amount)
    return value > 0 && value <= 1e9 ? { value } : { must: 'a rate such as 300/s' }
  }
}
