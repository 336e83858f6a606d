import type { Outcome, Permit, RetryState } from '@secondwind/resilience'
import { killSwitch } from '@secondwind/resilience/rules'
import { Agenda } from './agenda.ts'
import { OUTCOMES } from './outcomes.ts'
import { Rows } from './rows.ts'

/** What everybody in a world shares: the time, what happens next, and the records of what is under way. */
export class Core {
  readonly clock: { now: number; /** The column of the present step in everything over time. */ step: number } = {
    now: 0,
    step: 0,
  }
  readonly agenda: Agenda = new Agenda()
  readonly operations: Rows = new Rows()
  readonly calls: Rows = new Rows()
  /** What `decide` remembers of operations that have failed once, and the breaker's permits, by row. */
  readonly states: (RetryState | undefined)[] = []
  readonly permits: (Permit | undefined)[] = []
  /** Outcomes by number: those that all have in common, then those of stations that name a wait. */
  readonly outcomes: Outcome[] = [...OUTCOMES]
  /** Orders of the kill switch that have been given. */
  killOrders: Parameters<typeof killSwitch.orderFor>[0] = []

  /** Whether a kill switch forbids the next attempt of an operation that has made so many. */
  isKilled(pipeline: string, attempts: number): boolean {
    if (this.killOrders.length === 0) return false
    const order = killSwitch.orderFor(this.killOrders, { name: pipeline }, this.clock.now)
    return order !== undefined && killSwitch.forbids(order.level, attempts)
  }

  /** Whether it forbids company: any order does. */
  isHedgingKilled(pipeline: string): boolean {
    if (this.killOrders.length === 0) return false
    return killSwitch.orderFor(this.killOrders, { name: pipeline }, this.clock.now) !== undefined
  }
}

/** Ids of events: a row, and in the lowest bits whose. */
export const OF_OPERATION = 0
export const OF_CALL = 1
export const OF_SOURCE = 2
export const OWNERS = 4
export const OWNER_BITS = 2
export const OWNER_MASK = 3
