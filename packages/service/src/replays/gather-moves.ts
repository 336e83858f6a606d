import assert from 'node:assert/strict'
import type { Backlog } from '../intake/backlog.ts'
import type { PolicyBook } from '../policies/policy-book.ts'
import type { BodyName, HistoryStore, QueueStore, Replay } from '../stores/store.ts'
import { replayed } from '../task/accept.ts'
import { skippedBecause } from '../task/replay/selection.ts'
import { dueAtOf } from '../task/replay/step.ts'
import { readCandidates } from './candidates.ts'
import type { StoredReplay } from './stored-replay.ts'

export interface MovePorts {
  readonly store: Pick<QueueStore, 'get'> & Pick<HistoryStore, 'list'>
  readonly policies: Pick<PolicyBook, 'find'>
  /** Left out: there is room for every task. */
  readonly backlog?: Pick<Backlog, 'verdict' | 'taken'>
}

/** The dead letters that one step brings back. */
export interface Moves {
  readonly asks: readonly Replay[]
  /** The large bodies of these tasks. */
  readonly bodies: readonly BodyName[]
  /** Where the next step begins. Undefined: nothing is left, or, after a task without room, at the beginning. */
  readonly cursor: string | undefined
  /** The next task found no room, and ended the step. */
  readonly isFull: boolean
}

/** Pages that one step reads in search of tasks to move. */
const MOST_PAGES = 5

/**
 * At most one task for each turn, in order. A task that finds no room stays a dead letter, and the others wait behind it: the
 * next step begins where this one did, and no longer finds the tasks that this one brings back.
 */
export async function gatherMoves(ports: MovePorts, stored: StoredReplay, turns: readonly number[]): Promise<Moves> {
  const { store, policies, backlog } = ports
  const { replayId, replay } = stored
  const [asks, bodies] = [[] as Replay[], [] as BodyName[]]
  let { cursor } = replay
  for (let pages = 0; pages < MOST_PAGES && asks.length < turns.length; pages++) {
    const page = await readCandidates(store, stored, { cursor, limit: turns.length - asks.length })
    for (const letter of page.letters) {
      const policy = await policies.find(letter)
      if (policy === 'missing' || skippedBecause(replay, { ...letter, hasPolicy: true }) !== undefined) continue
      if (backlog?.verdict(letter) !== undefined) return { asks, bodies, cursor: replay.cursor, isFull: true }
      backlog?.taken(letter)
      const turn = turns[asks.length]
      assert(turn !== undefined, 'a page has no more tasks than there are turns')
      const { taskId, tenant, bodyRef } = letter
      const dueAt = dueAtOf(turn)
      const progress = { ...replayed(letter, policy, dueAt), replayId }
      asks.push({ taskId, generation: letter.progress.generation, progress, dueAt })
      if (bodyRef !== undefined) bodies.push({ tenant, bodyRef })
    }
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  return { asks, bodies, cursor, isFull: false }
}
