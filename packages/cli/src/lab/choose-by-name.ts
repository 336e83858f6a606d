import type { Command } from '../command.ts'
import { problemsFailure } from '../failure.ts'

/** Those that are named, or all; every name that there is not is said at once. */
export function chooseByName<Named extends { readonly name: string }>(
  names: readonly string[] | undefined,
  all: readonly Named[],
  { path }: Command,
): readonly Named[] {
  if (names === undefined || names.length === 0) return all
  const known = all.map(({ name }) => name)
  const problems = names
    .filter(name => !known.includes(name))
    .map(name => ({ at: name, is: undefined, say: `is none of ${known.join(', ')}` }))
  if (problems.length > 0) {
    const next = [`secondwind ${path.join(' ')} --list`]
    throw problemsFailure({ code: 'unknown-name', what: 'there is nothing of this name', next }, problems)
  }
  return all.filter(({ name }) => names.includes(name))
}
