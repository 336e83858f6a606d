/**
 * Group commit. Calls that came since the last batch are in the next one: one transaction, one wait for the disk. A second batch
 * waits at the worker while the first is written, so that the worker never waits for the event loop.
 */
import { strict as assert } from 'node:assert'
import { nextTurn } from '@secondwind/resilience'
import { laneOf } from '../../task/lane.ts'
import { VERBS, type Hint, type Line } from '../store.ts'
import { errorOf, type Fault } from './faults.ts'
import type { NewRow } from './rows.ts'
import type { AnswerOf, AskOf, WriterVerb } from './verbs.ts'
import type { Batch, Call, Committed, Outcome } from './worker.ts'

export interface CommitQueueOptions {
  readonly commit: (batch: Batch) => Promise<Committed>
  readonly now: () => number
  /** Without a disk there is no wait to share: no call waits for others, and no turn passes in virtual time. */
  readonly isInMemory: boolean
  readonly onHint: (hint: Hint) => void
  /** Told of each commit that wrote something, and of each call that the file or the disk made fail. */
  readonly onWrite: (fault: Fault | undefined) => void
}

export interface CommittedAnswer<V extends WriterVerb> {
  readonly now: number
  readonly answer: AnswerOf<V>
}

interface Waiting {
  readonly call: Call
  /** Tasks that it brings. */
  readonly rows: number
  readonly resolve: (committed: { readonly now: number; readonly answer: unknown }) => void
  readonly reject: (error: unknown) => void
}

/** Of each line, so that none keeps another waiting for ever. */
const MOST_CALLS = 64
/** Of what is brought: a call that comes meanwhile waits for no more than that to be written. */
const MOST_ROWS = 1_024
const MOST_UNDER_WAY = 2

/** The order in which a batch is applied; `intake` is taken in turns of tenants, before `claim`. */
const LINES = ['settle', 'order', 'upkeep'] as const satisfies readonly Line[]

export class CommitQueue {
  readonly #options: CommitQueueOptions
  readonly #lines: { readonly [line in Exclude<Line, 'intake'>]: Waiting[] } = {
    settle: [],
    order: [],
    upkeep: [],
    claim: [],
  }
  readonly #intake = new TenantTurns<Waiting>()
  #waiting = 0
  #underWay = 0
  #isTurnAwaited = false
  #whenDrained: (() => void)[] = []

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  ask<V extends WriterVerb>(verb: V, ask: AskOf<V>): Promise<CommittedAnswer<V>> {
    return new Promise((resolve, reject) => {
      const call = [verb, ask] as unknown as Call
      const answer = resolve as Waiting['resolve']
      const line = lineOf(verb)
      if (line === 'intake') {
        const rows = ask as readonly NewRow[]
        this.#intake.add(tenantOf(rows), { call, rows: rows.length, resolve: answer, reject })
      } else this.#lines[line].push({ call, rows: 0, resolve: answer, reject })
      this.#waiting++
      this.#commitInTurn(line === 'claim')
    })
  }

  /** Resolves when all that was asked is answered. */
  async drained(): Promise<void> {
    if (this.#waiting + this.#underWay > 0) await new Promise<void>(resolve => this.#whenDrained.push(resolve))
  }

  /** Calls of the same turn come along; a claim, for which slots stand empty, waits only for those of the same step. */
  #commitInTurn(isUrgent: boolean): void {
    if (isUrgent || this.#options.isInMemory) return void Promise.resolve().then(() => this.#commit())
    if (this.#isTurnAwaited) return
    this.#isTurnAwaited = true
    nextTurn(() => {
      this.#isTurnAwaited = false
      this.#commit()
    })
  }

  #commit(): void {
    while (this.#waiting > 0 && this.#underWay < MOST_UNDER_WAY) void this.#commitBatch(this.#takeBatch())
  }

  #takeBatch(): readonly Waiting[] {
    const batch = LINES.flatMap(line => this.#lines[line].splice(0, MOST_CALLS))
    batch.push(...this.#intake.take({ calls: MOST_CALLS, rows: MOST_ROWS }), ...this.#lines.claim.splice(0, MOST_CALLS))
    this.#waiting -= batch.length
    return batch
  }

  async #commitBatch(batch: readonly Waiting[]): Promise<void> {
    const { commit, now, onHint, onWrite } = this.#options
    const instant = now()
    this.#underWay++
    try {
      const { outcomes, hints, hasWritten } = await commit({ now: instant, calls: batch.map(({ call }) => call) })
      batch.forEach((each, at) => this.#answer(each, outcomes[at], instant))
      if (hasWritten && outcomes.every(({ kind }) => kind === 'done')) onWrite(undefined)
      for (const hint of hints) onHint(hint)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#underWay--
    this.#commitInTurn(false)
    if (this.#waiting + this.#underWay === 0) for (const resolve of this.#whenDrained.splice(0)) resolve()
  }

  #answer({ resolve, reject }: Waiting, outcome: Outcome | undefined, now: number): void {
    if (outcome?.kind === 'done') return resolve({ now, answer: outcome.answer })
    if (outcome?.kind !== 'unavailable') return reject(new Error(outcome?.message ?? 'a call was not answered'))
    this.#options.onWrite(outcome.fault)
    reject(errorOf(outcome.fault))
  }
}

function lineOf(verb: WriterVerb): Line {
  if (verb === 'endLeases' || verb === 'probe') return 'order'
  const rule = VERBS[verb]
  return rule.kind === 'read' ? 'order' : rule.line
}

/** All tasks of one call are one tenant's, but for callbacks, which are few. */
function tenantOf([first]: readonly NewRow[]): string {
  return first === undefined ? '' : laneOf(first.task[1]).tenant
}

// ---------------------------------------------------------------- turns of tenants

/** How much of what waits goes together. */
export interface Most {
  readonly calls: number
  /** Of all calls; one that has more goes alone. */
  readonly rows: number
}

/**
 * Calls that wait, in turns: one call of each tenant, then the next of each. A tenant waits for at most one call of every other
 * tenant, however many those have.
 */
export class TenantTurns<Call extends { readonly rows: number }> {
  /** In the order of the next turns. */
  readonly #callsOf = new Map<string, Call[]>()

  add(tenant: string, call: Call): void {
    const calls = this.#callsOf.get(tenant)
    if (calls === undefined) this.#callsOf.set(tenant, [call])
    else calls.push(call)
  }

  take(most: Most): Call[] {
    const taken: Call[] = []
    let rows = 0
    for (const [tenant, calls] of this.#callsOf) {
      const [call] = calls
      assert(call !== undefined, 'a tenant without a call has no turn')
      rows += call.rows
      if (taken.length === most.calls || (taken.length > 0 && rows > most.rows)) break
      taken.push(call)
      // Set anew, its next turn comes after those of all others; the loop meets it there.
      calls.shift()
      this.#callsOf.delete(tenant)
      if (calls.length > 0) this.#callsOf.set(tenant, calls)
    }
    return taken
  }
}
