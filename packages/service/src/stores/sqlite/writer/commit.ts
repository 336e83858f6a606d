import type { Hint } from '../../task-store.ts'
import { NOTHING_YET, type Extent } from '../rows/extent.ts'
import { sayingWhy } from '../file/file.ts'
import { failureOf, type Failure } from '../threads/thread-end.ts'
import { ALONE, READS, VERBS, type Verb } from './verbs.ts'
import type { Writer } from './writer.ts'

/** Calls that came together, in the order in which they are applied. */
export interface Batch {
  readonly now: number
  readonly calls: readonly Call[]
}

export type Call = readonly [verb: Verb, ask: unknown]

export interface Committed {
  /** One for each call. */
  readonly outcomes: readonly Outcome[]
  readonly hints: readonly Hint[]
  /** Whether anything was written. */
  readonly hasWritten: boolean
  /** How far the file had come then. */
  readonly extent: Extent
}

export type Outcome = { readonly kind: 'done'; readonly answer: unknown } | Failure

/** Runs the calls in one transaction. When it is on the disk, `Disk` knows. */
export function commit(writer: Writer, { now, calls }: Batch, path: string): Committed {
  writer.now = now
  const outcomes = new Map<Call, Outcome>()
  const hints: Hint[] = []
  let hasWritten = false
  let extent = NOTHING_YET

  /** One that fails must not harm its neighbours: each half is tried on its own, until it stands alone. */
  const runTogether = (together: readonly Call[]): void => {
    if (together.length === 0) return
    try {
      const { answers, isWritten, extent: reached } = sayingWhy(path, () => transact(writer, together))
      for (const [at, call] of together.entries()) outcomes.set(call, { kind: 'done', answer: answers[at] })
      hints.push(...writer.takeHints())
      hasWritten ||= isWritten
      extent = reached
    } catch (error) {
      const half = Math.ceil(together.length / 2)
      if (half === together.length) return void outcomes.set(together[0]!, failureOf(error))
      runTogether(together.slice(0, half))
      runTogether(together.slice(half))
    }
  }

  for (const call of calls) if (ALONE.has(call[0])) outcomes.set(call, runAlone(writer, call, path))
  runTogether(calls.filter(([verb]) => !ALONE.has(verb)))
  return { outcomes: calls.map(call => outcomes.get(call)!), hints, hasWritten, extent }
}

function transact(writer: Writer, calls: readonly Call[]): { answers: unknown[]; isWritten: boolean; extent: Extent } {
  const { connection } = writer
  // Whoever will write says so at once: a lock that is asked for later may be refused half-way.
  connection.exec(calls.some(isWrite) ? 'begin immediate' : 'begin')
  try {
    writer.begin()
    const answers = calls.map(call => run(writer, call))
    const isWritten = writer.flush()
    connection.exec('commit')
    return { answers, isWritten, extent: { newestTask: writer.tasks.newest, newestEntry: writer.log.newest } }
  } catch (error) {
    writer.forget()
    // A full disk may have ended the transaction already.
    if (connection.isTransaction()) connection.exec('rollback')
    throw error
  }
}

function runAlone(writer: Writer, call: Call, path: string): Outcome {
  try {
    return { kind: 'done', answer: sayingWhy(path, () => run(writer, call)) }
  } catch (error) {
    return failureOf(error)
  }
}

function run(writer: Writer, [verb, ask]: Call): unknown {
  return (VERBS[verb] as (writer: Writer, ask: unknown) => unknown)(writer, ask)
}

function isWrite([verb]: Call): boolean {
  return !READS.has(verb)
}
