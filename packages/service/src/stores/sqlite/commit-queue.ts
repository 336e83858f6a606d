import { nextTurn } from '@secondwind/resilience'
import { laneOf } from '../../task/lane.ts'
import type { Hint } from '../task-store.ts'
import type { Keeping } from './file/disk.ts'
import { isWithin, NOTHING_YET, type Extent } from './rows/extent.ts'
import { TenantTurns } from './tenant-turns.ts'
import { errorOfFailure } from './threads/thread-end.ts'
import type { Thread } from './threads/thread.ts'
import type { Batch, Committed, Outcome } from './writer/commit.ts'
import type { EnqueueAsk } from './writer/enqueue.ts'
import { FLEET, type AnswerOf, type AskOf, type Verb } from './writer/verbs.ts'

/**
 * Calls that are committed together, and wait for the disk together: all that came since the last commit are in the next
 * one, and one wait serves all commits since the last wait began. A claim does not wait if what it takes is on the disk: it
 * promises nothing to anybody, and the end of the process does not undo it. A loss of power may, and then its tasks are
 * claimed again. What was settled is kept a little later: nobody waits for its answer, and several commits wait together.
 */
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
  readonly disk: Keeping
  readonly now: () => number
  readonly onHints: (hints: readonly Hint[]) => void
  /** Told of each call that the file or the disk made fail, and after each commit that wrote something and had none. */
  readonly onWrite: (problem: Error | undefined) => void
  /** What was committed may not be on the disk, and never will be known to be. */
  readonly onUnkept: (error: unknown) => Error
}

interface Waiting {
  readonly verb: Verb
  readonly ask: unknown
  /** Tasks that it brings; of others than enqueue it is not asked. */
  readonly rows: number
  readonly resolve: (committed: Committing<Verb>) => void
  readonly reject: (error: unknown) => void
}

/**
 * So many of each turn are about a millisecond of work; of each, so that none keeps another waiting for ever. A hundred
 * callers in one batch would all wait for the thread, then for the disk, and then be asked what is next, each time with
 * nothing else to do; in small batches the three are busy side by side.
 */
const MOST_CALLS = 32

/** Of what is brought: a whole batch and some that bring one. Whoever comes meanwhile waits for no more than that to be written. */
const MOST_ROWS = 1_024

/** The thread finds the next batch at its door when it has done with one; those that come meanwhile go together. */
const MOST_UNDER_WAY = 2

/**
 * Ends go before beginnings: a settle frees what a claim may take, and whoever settles has waited longest. What operators
 * order waits for nothing that tenants bring or read, and what is read for nothing that is brought.
 */
const LINES = ['settle', 'release', 'order', 'usual'] as const
type Line = (typeof LINES)[number] | 'claim'

/** What operators write, what they read to write it, and what the fleet lives by. */
const ORDERS: ReadonlySet<Verb> = new Set<Verb>([
  ...FLEET,
  'writeRecord',
  'record',
  'putPolicy',
  'cancel',
  'attemptNow',
  'replay',
])

function lineOf(verb: Verb): Line {
  if (verb === 'settle' || verb === 'release' || verb === 'claim') return verb
  return ORDERS.has(verb) ? 'order' : 'usual'
}

export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { thread, disk, now, onHints, onWrite, onUnkept } = options
  const lines: { readonly [line in Line]: Waiting[] } = { settle: [], release: [], order: [], usual: [], claim: [] }
  const brought = new TenantTurns<Waiting>()
  let waiting = 0
  /** Batches that the thread has not answered. */
  let underWay = 0
  let isTurnAwaited = false
  const committing = new Set<Promise<void>>()
  /** All that was committed so far is on the disk. */
  let kept: Promise<void> = Promise.resolve()
  let keptExtent = NOTHING_YET
  let answering: Promise<void> = kept

  const takeBatch = (): Waiting[] => {
    const batch = LINES.flatMap(line => lines[line].splice(0, MOST_CALLS))
    batch.push(...brought.take({ calls: MOST_CALLS, rows: MOST_ROWS }), ...lines.claim.splice(0, MOST_CALLS))
    waiting -= batch.length
    return batch
  }

  const commitBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const instant = now()
    const calls = batch.map(({ verb, ask }) => [verb, ask] as const)
    let committed: Committed
    try {
      committed = await thread.ask({ now: instant, calls })
    } catch (error) {
      return refuse(batch, error as Error)
    }
    const answered = batch.map((call, at) => ({ call, outcome: committed.outcomes[at]! }))
    const mayGo = ({ call, outcome }: Answered): boolean =>
      call.verb === 'claim' && outcome.kind === 'done' && hasTakenFrom(keptExtent, outcome.answer as AnswerOf<'claim'>)
    const going = answered.filter(mayGo)
    for (const each of going) answer(each, instant)
    const staying = going.length === 0 ? answered : answered.filter(each => !going.includes(each))
    const isAwaited = staying.some(({ call }) => !isEnd(call))
    // Whoever only read has seen what others wrote, and waits with them.
    if (committed.hasWritten) kept = isAwaited ? disk.keep() : disk.keepSoon()
    else if (isAwaited) disk.hurry()
    answering = answerKept(committed, staying, instant)
  }

  const answerKept = async (
    { hints, hasWritten, extent }: Committed,
    answered: readonly Answered[],
    instant: number,
  ): Promise<void> => {
    try {
      await kept
    } catch (error) {
      return refuse(
        answered.map(({ call }) => call),
        onUnkept(error),
      )
    }
    if (isWithin(keptExtent, extent)) keptExtent = extent
    for (const each of answered) answer(each, instant)
    if (hasWritten && !answered.some(({ outcome }) => outcome.kind === 'unavailable')) onWrite(undefined)
    if (hints.length > 0) onHints(hints)
  }

  const answer = ({ call: { resolve, reject }, outcome }: Answered, instant: number): void => {
    if (outcome.kind === 'done') return resolve({ now: instant, answer: outcome.answer as AnswerOf<Verb> })
    const error = errorOfFailure(outcome)
    if (outcome.kind === 'unavailable') onWrite(error)
    reject(error)
  }

  const refuse = (batch: readonly Waiting[], error: Error): void => {
    onWrite(error)
    for (const { reject } of batch) reject(error)
  }

  /** Commits those who wait, as long as the thread takes more. */
  const commitWaiting = (): void => {
    while (waiting > 0 && underWay < MOST_UNDER_WAY) {
      underWay++
      watch(commitBatch(takeBatch()).then(ended))
    }
  }

  const ended = (): void => {
    underWay--
    commitInTurn()
  }

  /** Whoever is about to ask comes along: those of this turn, and those whom an answer makes ask. */
  const commitInTurn = (): void => {
    if (isTurnAwaited || waiting === 0) return
    isTurnAwaited = true
    const commitThen = (): void => {
      isTurnAwaited = false
      commitWaiting()
    }
    watch(new Promise<void>(nextTurn).then(commitThen))
  }

  const watch = (step: Promise<void>): void => {
    const watched = step.finally(() => committing.delete(watched))
    committing.add(watched)
  }

  return {
    ask: (verb, ask) =>
      new Promise((resolve, reject) => {
        if (verb === 'enqueue') {
          const { tasks } = ask as EnqueueAsk
          brought.add(tenantOf(tasks), { verb, ask, rows: tasks.length, resolve, reject })
        } else lines[lineOf(verb)].push({ verb, ask, rows: 0, resolve, reject })
        waiting++
        // Slots stand empty until a claim is answered, and what goes with it was asked before it: with the
        // other claims of this step it need not wait for the rest of a turn, which may take a millisecond.
        if (verb === 'claim') watch(Promise.resolve().then(commitWaiting))
        else commitInTurn()
      }),
    async drained() {
      while (committing.size > 0) await Promise.all(committing)
      await answering
    },
  }
}

/** Of an attempt: whoever made it goes on with others. */
function isEnd({ verb }: Waiting): boolean {
  return verb === 'settle' || verb === 'release'
}

/** All that comes in one call is one tenant's, but for callbacks, which are few. */
function tenantOf([first]: EnqueueAsk['tasks']): string {
  return first === undefined ? '' : laneOf(first[1]).tenant
}

/** Whether a claim took nothing but what is on the disk: nobody is sent, or told of, who may be gone after a loss of power. */
function hasTakenFrom(extent: Extent, reply: AnswerOf<'claim'>): boolean {
  return reply.kind === 'refused' || isWithin(reply.taken, extent)
}

interface Answered {
  readonly call: Waiting
  readonly outcome: Outcome
}
