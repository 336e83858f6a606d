/** How much of what waits goes together. */
export interface Most {
  readonly calls: number
  /** Of all calls; one that has more goes alone. */
  readonly rows: number
}

interface Sized {
  /** What it writes. */
  readonly rows: number
}

interface Line<Call> {
  readonly calls: Call[]
}

/**
 * Calls that wait, each in the line of its tenant: one call of each tenant, then the next of each. Whoever has one waits
 * for at most one of every other, however many those have.
 */
export class TenantTurns<Call extends Sized> {
  /** Tenants are few, and a line that is empty is needed again. */
  readonly #lines = new Map<string, Line<Call>>()
  /** Lines that have a call, the one whose turn it is first. */
  readonly #waiting: Line<Call>[] = []

  add(tenant: string, call: Call): void {
    let line = this.#lines.get(tenant)
    if (line === undefined) this.#lines.set(tenant, (line = { calls: [] }))
    if (line.calls.push(call) === 1) this.#waiting.push(line)
  }

  take(most: Most): Call[] {
    const taken: Call[] = []
    let rows = 0
    for (let line = this.#waiting[0]; line !== undefined && taken.length < most.calls; line = this.#waiting[0]) {
      const call = line.calls[0]!
      if (taken.length > 0 && rows + call.rows > most.rows) break
      rows += call.rows
      taken.push(call)
      line.calls.shift()
      this.#waiting.shift()
      if (line.calls.length > 0) this.#waiting.push(line)
    }
    return taken
  }
}
