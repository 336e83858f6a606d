/** What a service says of the fields of its API, in the words of whoever has typed flags. */
import type { Problem } from '@secondwind/resilience'
import type { GivenOptions } from '../command.ts'
import { flagOf, shown } from '../input/read-options.ts'
import { sayInstant } from '../output/say-time.ts'

/** The flag that was typed for this field, with what was typed; of what nobody typed, instants as people write them. */
export function inFlags(problem: Problem, options: GivenOptions): Problem {
  const { at, is } = problem
  const name = ['', 'Ms', 'At'].map(unit => nameBefore(at, unit)).find(one => options[one] !== undefined)
  if (name !== undefined && name !== '') return { ...problem, at: flagOf(name), is: shown(name, options[name]) }
  return isInstant(at) && typeof is === 'number' ? { ...problem, is: sayInstant(is) } : problem
}

function nameBefore(field: string, unit: string): string {
  return field.endsWith(unit) ? field.slice(0, field.length - unit.length) : ''
}

function isInstant(field: string): boolean {
  return /(?:At|^until)$/.test(field)
}

/** `The body has 2 problems.`: they are listed, and who types knows of no body. */
export function isOnlyCount(detail: string): boolean {
  return /^The \S+ has \d+ problems?\.$/.test(detail)
}

/** What is a sentence already need not be said of its field again. */
export function isToldBy(detail: string, { say }: Problem): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[.!?]$/, '')
  return plain(say).includes(plain(detail)) || plain(detail).includes(plain(say))
}
