import { nextTurn } from '@secondwind/resilience'
import type { Hint } from '../task-store.ts'
import { errorOfFailure } from './threads/thread-end.ts'
import type { Thread } from './threads/thread.ts'
import type { Batch, Committed } from './writer/commit.ts'
import type { AnswerOf, AskOf, Verb } from './writer/verbs.ts'

/** Calls that wait for the disk together: all that came since the last commit are in the next one. */
export interface CommitQueue {
  ask<V extends Verb>(verb: V, ask: AskOf<V>): Promise<Committing<V>>
  /** Resolves when all that was asked is answered. */
  drained(): Promise<void>
}

export interface Committing<V extends Verb> {
  readonly now: number
  readonly answer: AnswerOf<V>
}

export interface CommitQueueOptions {
  readonly thread: Thread<Batch, Committed>
  readonly now: () => number
  readonly onHints: (hints: readonly Hint[]) => void
  /** Told of each call that the file or the disk made fail, and after each commit that wrote something and had none. */
  readonly onWrite: (problem: Error | undefined) => void
}

interface Waiting {
  readonly verb: Verb
  readonly ask: unknown
  readonly resolve: (committed: Committing<Verb>) => void
  readonly reject: (error: unknown) => void
}

const turn = (): Promise<void> => new Promise(nextTurn)

/** So many of each turn are a few milliseconds of work; of each, so that none keeps another waiting for ever. */
const MOST_CALLS = 1_000

/** Ends go before beginnings: a settle frees what a claim may take, and whoever settles has waited longest. */
const TURNS = ['settle', 'release', 'usual', 'claim'] as const
type Turn = (typeof TURNS)[number]

function turnOf(verb: Verb): Turn {
  return verb === 'settle' || verb === 'release' || verb === 'claim' ? verb : 'usual'
}

export function createCommitQueue({ thread, now, onHints, onWrite }: CommitQueueOptions): CommitQueue {
  const turns: { readonly [turn in Turn]: Waiting[] } = { settle: [], release: [], usual: [], claim: [] }
  let waiting = 0
  let committing: Promise<void> | undefined

  const takeBatch = (): Waiting[] => {
    const batch = TURNS.flatMap(turn => turns[turn].splice(0, MOST_CALLS))
    waiting -= batch.length
    return batch
  }

  const commitBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const instant = now()
    const calls = batch.map(({ verb, ask }) => [verb, ask] as const)
    try {
      answer(batch, instant, await thread.ask({ now: instant, calls }))
    } catch (error) {
      onWrite(error as Error)
      for (const { reject } of batch) reject(error)
    }
  }

  const answer = (batch: readonly Waiting[], instant: number, { outcomes, hints, hasWritten }: Committed): void => {
    let hasFailed = false
    for (const [at, outcome] of outcomes.entries()) {
      const { resolve, reject } = batch[at]!
      if (outcome.kind === 'done') {
        resolve({ now: instant, answer: outcome.answer as AnswerOf<Verb> })
        continue
      }
      const error = errorOfFailure(outcome)
      if (outcome.kind === 'unavailable') {
        hasFailed = true
        onWrite(error)
      }
      reject(error)
    }
    if (hasWritten && !hasFailed) onWrite(undefined)
    if (hints.length > 0) onHints(hints)
  }

  const commitAll = async (): Promise<void> => {
    // Whoever is about to ask comes along: those of this turn, and those whom an answer makes ask. A claim that just
    // missed the settles before it would go to the disk alone.
    for (await turn(); waiting > 0; await turn()) await commitBatch(takeBatch())
    committing = undefined
  }

  return {
    ask: (verb, ask) =>
      new Promise((resolve, reject) => {
        turns[turnOf(verb)].push({ verb, ask, resolve, reject })
        waiting++
        committing ??= commitAll()
      }),
    drained: () => committing ?? Promise.resolve(),
  }
}
