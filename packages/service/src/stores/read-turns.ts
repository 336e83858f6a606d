/**
 * Whose turn it is to read. A list may look at thousands of tasks, and a store reads one after the other: whoever asks for
 * many lists waits for its own, and nobody waits for them.
 *
 *  1. So few are under way that what the service reads for itself (orders, keys, memories) comes after one or two of them.
 *  2. The next turn goes to the tenant with the fewest under way, then to the one unserved longest, as with slots. Within a
 *     tenant, to whoever came first.
 *
 * How many may wait is for those to say who let them in.
 */
import { shares } from '@secondwind/resilience/rules'
import { EVERY_TENANT } from '../task/lane.ts'
import type { TaskStore } from './task-store.ts'

/** The next is at the store's door when it has done with one. */
const AT_ONCE = 2

/** One store, as those see it who read in somebody's name. */
export interface SharedReading {
  /** In the turn of the tenant whose things are read. */
  readonly asTenant: TaskStore
  /** In a turn of their own, whatever the tenant that they look into is doing. */
  readonly asOperator: TaskStore
}

export function shareReading(store: TaskStore): SharedReading {
  const turns = new ReadTurns()
  return { asTenant: inTurns(store, turns, tenant => tenant), asOperator: inTurns(store, turns, () => EVERY_TENANT) }
}

function inTurns(store: TaskStore, turns: ReadTurns, readerOf: (tenant: string) => string): TaskStore {
  const inTurn = <Value>(tenant: string, read: () => Promise<Value>): Promise<Value> =>
    turns.take(readerOf(tenant), read)
  return {
    ...store,
    attempts: ask => inTurn(ask.tenant ?? EVERY_TENANT, () => store.attempts(ask)),
    list: ask => inTurn(ask.filter.tenant ?? EVERY_TENANT, () => store.list(ask)),
    causes: ask => inTurn(ask.tenant ?? EVERY_TENANT, () => store.causes(ask)),
    deadLetters: ask => inTurn(ask.filter.tenant ?? EVERY_TENANT, () => store.deadLetters(ask)),
    replays: ask => inTurn(ask.tenant, () => store.replays(ask)),
    laneCounters: ask => inTurn(ask.tenant ?? EVERY_TENANT, () => store.laneCounters(ask)),
    policies: ask => inTurn(ask.tenant, () => store.policies(ask)),
    policyVersions: ask => inTurn(ask.tenant, () => store.policyVersions(ask)),
    records: ask => inTurn(ask.tenant ?? EVERY_TENANT, () => store.records(ask)),
    auditTrail: ask => inTurn(ask.tenant ?? EVERY_TENANT, () => store.auditTrail(ask)),
  }
}

/** The reads of one tenant, or of operators: those that wait, and how many there are in all. */
interface Line {
  readonly share: shares.LaneShare<string>
  readonly waiting: (() => void)[]
  reads: number
}

class ReadTurns {
  readonly #shares: shares.Shares<string> = shares.newShares(AT_ONCE)
  readonly #lines = new Map<string, Line>()

  async take<Value>(tenant: string, read: () => Promise<Value>): Promise<Value> {
    const line = this.#lineOf(tenant)
    await this.#turnOf(line)
    try {
      return await read()
    } finally {
      this.#leave(tenant, line)
    }
  }

  #lineOf(tenant: string): Line {
    let line = this.#lines.get(tenant)
    if (line === undefined) {
      line = { share: shares.joinShares(this.#shares, tenant, tenant), waiting: [], reads: 0 }
      this.#lines.set(tenant, line)
    }
    return line
  }

  #turnOf(line: Line): Promise<void> {
    return new Promise(resolve => {
      line.reads++
      line.waiting.push(resolve)
      shares.setReady(this.#shares, line.share, true)
      this.#giveTurns()
    })
  }

  #leave(tenant: string, line: Line): void {
    shares.giveSlotBack(this.#shares, line.share)
    if (--line.reads === 0) {
      this.#lines.delete(tenant)
      shares.leaveShares(this.#shares, line.share)
    }
    this.#giveTurns()
  }

  #giveTurns(): void {
    for (let next = shares.nextLane(this.#shares); next !== undefined; next = shares.nextLane(this.#shares)) {
      const { waiting } = this.#lines.get(next.lane)!
      shares.takeSlot(this.#shares, next)
      waiting.shift()!()
      if (waiting.length === 0) shares.setReady(this.#shares, next, false)
    }
  }
}
