/** One batch of calls, in one transaction; and the thread in which it runs. */
import { StoreUnavailableError, type Hint } from '../store.ts'
import { faultOf, type Fault } from './faults.ts'
import { createVerbs, IN_MEMORY, type AskOf, type WriterVerb, type WriterVerbs } from './verbs.ts'
import type { Writer } from './writer.ts'

export type Call = { readonly [V in WriterVerb]: readonly [verb: V, ask: AskOf<V>] }[WriterVerb]

/** Calls that came together, in the order in which they are applied. */
export interface Batch {
  readonly now: number
  readonly calls: readonly Call[]
}

export interface Committed {
  /** One for each call. */
  readonly outcomes: readonly Outcome[]
  readonly hints: readonly Hint[]
  /** Whether the file was changed: only then does a success prove that it can be. */
  readonly hasWritten: boolean
}

export type Outcome = { readonly kind: 'done'; readonly answer: unknown } | Failure

/** Why a call was not done, as plain data: errors lose their class on the way between threads. */
export type Failure =
  /** The file or the disk is at fault. */
  | { readonly kind: 'unavailable'; readonly fault: Fault }
  /** We are. */
  | { readonly kind: 'failed'; readonly message: string }

/** Runs batches on a connection; answers when each is committed. */
export function createWorker(writer: Writer, path: string): (batch: Batch) => Committed {
  const verbs = createVerbs(writer)
  const run = (call: Call): unknown =>
    (verbs[call[0]] as (ask: unknown) => ReturnType<WriterVerbs[WriterVerb]>)(call[1])

  /** One call that fails must not harm its neighbours: each half is tried on its own, until the call stands alone. */
  const runTogether = (calls: readonly Call[], into: { outcomes: Map<Call, Outcome>; hints: Hint[] }): void => {
    if (calls.length === 0) return
    try {
      const answers = writer.transact(() => calls.map(run))
      calls.forEach((call, at) => into.outcomes.set(call, { kind: 'done', answer: answers[at] }))
      into.hints.push(...writer.takeHints())
    } catch (error) {
      const failure = failureOf(error, path)
      const isForAll = calls.length === 1 || (failure.kind === 'unavailable' && failure.fault.isUnkept)
      if (isForAll) return calls.forEach(call => void into.outcomes.set(call, failure))
      const half = Math.ceil(calls.length / 2)
      runTogether(calls.slice(0, half), into)
      runTogether(calls.slice(half), into)
    }
  }

  return ({ now, calls }) => {
    writer.now = now
    writer.hasWritten = false
    const outcomes = new Map<Call, Outcome>()
    for (const call of calls) if (IN_MEMORY.has(call[0])) outcomes.set(call, { kind: 'done', answer: run(call) })
    const hints: Hint[] = []
    runTogether(
      calls.filter(([verb]) => !IN_MEMORY.has(verb)),
      { outcomes, hints },
    )
    return { outcomes: calls.map(call => outcomes.get(call) ?? NOT_RUN), hints, hasWritten: writer.hasWritten }
  }
}

const NOT_RUN: Outcome = { kind: 'failed', message: 'a call of this batch was not run' }

export function failureOf(error: unknown, path: string): Failure {
  const isSaid = error instanceof StoreUnavailableError
  const fault = isSaid ? { code: error.code, message: error.message } : faultOf(error, path)
  if (fault !== undefined) return { kind: 'unavailable', fault }
  return { kind: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
