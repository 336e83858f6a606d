type Go = () => void

/** Those who wait to change one record. Every one of them holds a connection, which bounds how many there are. */
interface Line {
  readonly operators: Go[]
  readonly others: Go[]
}

/**
 * Whose turn it is to change a record. Whoever reads it and then writes finds it changed when others do so, too: of many
 * who only try again, the luckiest goes first. Here they go one after the other, and operators before all others.
 */
export class OrderTurns {
  /** Of records that are being changed. */
  readonly #lines = new Map<string, Line>()

  async take<Result>(id: string, isOperator: boolean, change: () => Promise<Result>): Promise<Result> {
    await this.#turnAt(id, isOperator)
    try {
      return await change()
    } finally {
      this.#leave(id)
    }
  }

  async #turnAt(id: string, isOperator: boolean): Promise<void> {
    const line = this.#lines.get(id)
    if (line === undefined) this.#lines.set(id, { operators: [], others: [] })
    else await new Promise<void>(go => (isOperator ? line.operators : line.others).push(go))
  }

  #leave(id: string): void {
    const { operators, others } = this.#lines.get(id)!
    const next = operators.shift() ?? others.shift()
    if (next === undefined) this.#lines.delete(id)
    else next()
  }
}
