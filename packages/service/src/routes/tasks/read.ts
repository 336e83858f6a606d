import type { Problem } from '@secondwind/resilience'
import { Refusal, type RefusalCode } from '../answers/refusal.ts'
import { invalid } from '../requests/validation.ts'

/** A part of what was asked for: its value, or what is wrong with it. */
export type Read<T> = Right<T> | Wrong

interface Right<T> {
  readonly value: T
}

interface Wrong {
  readonly problems: readonly Problem[]
  /** What the refusal is when nothing else is wrong. */
  readonly alone?: { readonly code: RefusalCode; readonly detail: string; readonly status?: number }
}

export function right<T>(value: T): Right<T> {
  return { value }
}

export function wrong(at: string, is: unknown, say: string): Wrong {
  return { problems: [{ at, is, say }] }
}

/** What others have found wrong already. */
export const FOUND_WRONG: Wrong = { problems: [] }

export function valueOf<T>(read: Read<T>): T | undefined {
  return 'value' in read ? read.value : undefined
}

/** Throws the refusal, with every problem of every part and those that no part alone can see, if there is one. */
export function refuseWrong(parts: readonly Read<unknown>[], others: readonly Problem[]): void {
  const wrongs = parts.filter((part): part is Wrong => !('value' in part))
  if (wrongs.length > 0 || others.length > 0) throw refusalOf(wrongs, others)
}

/** The value of a part, once nothing wrong was found. */
export function sure<T>(read: Read<T>): T {
  return (read as Right<T>).value
}

function refusalOf(wrongs: readonly Wrong[], others: readonly Problem[]): Refusal {
  const problems = [...others, ...wrongs.flatMap(each => each.problems)]
  const [only] = wrongs
  if (only?.alone === undefined || problems.length > only.problems.length) return invalid('body', problems)
  const { code, ...parts } = only.alone
  return new Refusal(code, { ...parts, problems })
}

/** Of ES2024, which every Node has that runs this. */
interface Text {
  isWellFormed(): boolean
}

/** Whether a text can be written in UTF-8 as it is: JSON can hold half of a surrogate pair, which would be replaced. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as Text).isWellFormed()
}
