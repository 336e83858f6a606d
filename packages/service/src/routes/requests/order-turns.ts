import type { FastifyReply } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import { callerOf } from './caller.ts'
import { whenTaken } from './when-taken.ts'

/** Whoever wants to change a record. */
export interface Ordering {
  readonly isOperator: boolean
  /** Tells when nobody is there any more to hear what came of it. */
  readonly whenGone: (tell: () => void) => void
}

export function orderingOf(reply: FastifyReply): Ordering {
  return {
    isOperator: callerOf(reply.request).isOperator,
    whenGone: tell => whenTaken(reply, tell),
  }
}

type Go = () => void

/** Those who wait to change one record. Every one of them holds a connection, which bounds how many there are. */
interface Line {
  readonly operators: Set<Go>
  readonly others: Set<Go>
}

/**
 * Whose turn it is to change a record. Whoever reads it and then writes finds it changed when others do so, too: of many
 * who only try again, the luckiest goes first. Here they go one after the other, and operators before all others. Whoever
 * hangs up meanwhile gives up its turn.
 */
export class OrderTurns {
  /** Of records that are being changed. */
  readonly #lines = new Map<string, Line>()

  async take<Result>(id: string, ordering: Ordering, change: () => Promise<Result>): Promise<Result> {
    await this.#turnAt(id, ordering)
    try {
      return await change()
    } finally {
      this.#leave(id)
    }
  }

  async #turnAt(id: string, { isOperator, whenGone }: Ordering): Promise<void> {
    const line = this.#lines.get(id)
    if (line === undefined) return void this.#lines.set(id, { operators: new Set(), others: new Set() })
    const waiting = isOperator ? line.operators : line.others
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve)
      whenGone(() => {
        if (waiting.delete(resolve)) reject(brokenOff())
      })
    })
  }

  #leave(id: string): void {
    const { operators, others } = this.#lines.get(id)!
    const first = operators.size > 0 ? operators : others
    const [next] = first
    if (next === undefined) return void this.#lines.delete(id)
    first.delete(next)
    next()
  }
}

function brokenOff(): Refusal {
  return new Refusal('bad-http', { detail: 'Its connection was closed before its turn came; nothing was changed.' })
}
