import type { Draw } from '../chance/draws.ts'
import { exponential } from '../chance/draws.ts'
import type { Die } from '../chance/streams.ts'
import { OF_SOURCE, OWNERS, type Core } from './core.ts'
import type { Line } from './line.ts'
import type { RateCurve } from './rate-curve.ts'

/** What makes things happen by itself. It has so many events of its own, numbered from `first` on. */
export interface Source {
  start(): void
  ring(member: number): void
}

interface Common {
  readonly core: Core
  readonly line: Line
  /** The number of its first event. */
  readonly first: number
  readonly processes: number
  /** Nothing begins from then on. */
  readonly untilMs: number
}

/** An open load: arrivals do not wait for each other. */
export class OpenSource implements Source {
  readonly #common: Common
  readonly #curve: RateCurve
  readonly #die: Die
  readonly #isEven: boolean
  #turn = 0

  constructor(common: Common, options: { readonly curve: RateCurve; readonly die: Die; readonly isEven: boolean }) {
    this.#common = common
    this.#curve = options.curve
    this.#die = options.die
    this.#isEven = options.isEven
  }

  start(): void {
    this.#plan()
  }

  ring(): void {
    const { line, processes } = this.#common
    // Many small independent streams are one large one, whose arrivals belong to any of them.
    const process = processes === 1 ? 0 : this.#isEven ? this.#turn++ % processes : Math.floor(this.#die() * processes)
    this.#plan()
    line.begin(process, -1, -1, 0, Infinity)
  }

  #plan(): void {
    const { core, first, untilMs } = this.#common
    const at = this.#curve.after(core.clock.now, this.#isEven ? 1 : exponential(1, this.#die()))
    if (at < untilMs) core.agenda.set(first * OWNERS + OF_SOURCE, at)
  }
}

/** Instants that somebody has recorded. */
export class TraceSource implements Source {
  readonly #common: Common
  readonly #atMs: readonly number[]
  #next = 0

  constructor(common: Common, atMs: readonly number[]) {
    this.#common = common
    this.#atMs = atMs
  }

  start(): void {
    this.#plan()
  }

  ring(): void {
    const process = (this.#next - 1) % this.#common.processes
    this.#plan()
    this.#common.line.begin(process, -1, -1, 0, Infinity)
  }

  #plan(): void {
    const { core, first, untilMs } = this.#common
    const at = this.#atMs[this.#next++]
    if (at !== undefined && at < untilMs) core.agenda.set(first * OWNERS + OF_SOURCE, at)
  }
}

/** What a client takes at least from one call to its next. */
const LEAST_ROUND_MS = 1

/** Clients that call one after another: each thinks, calls, and thinks again when it has the answer. */
export class ClosedSource implements Source {
  readonly #common: Common
  readonly #clients: number
  readonly #thinkMs: Draw | undefined
  readonly #firstAtMs: number

  /** Without a time to think, everybody calls once, at `firstAtMs`. */
  constructor(
    common: Common,
    options: { readonly clients: number; readonly thinkMs: Draw | undefined; readonly firstAtMs: number },
  ) {
    this.#common = common
    this.#clients = options.clients
    this.#thinkMs = options.thinkMs
    this.#firstAtMs = options.firstAtMs
  }

  start(): void {
    for (let client = 0; client < this.#clients; client++) this.#plan(client, this.#firstAtMs)
  }

  ring(client: number): void {
    const { line, first, processes } = this.#common
    line.begin(client % processes, first + client, -1, 0, Infinity)
  }

  /** A client's call, begun then, has ended. */
  resume(client: number, startedAt: number): void {
    if (this.#thinkMs !== undefined) this.#plan(client, this.#common.core.clock.now, startedAt)
  }

  #plan(client: number, from: number, startedAt = -1): void {
    const { core, first, untilMs } = this.#common
    const next = from + (this.#thinkMs?.() ?? 0)
    // Refused at once and not thinking, it would call for ever at one instant: time must pass between two calls.
    const at = next > startedAt ? next : next + LEAST_ROUND_MS
    if (at < untilMs) core.agenda.set((first + client) * OWNERS + OF_SOURCE, at)
  }
}

/** What is to be done at known instants. Started first, so that it is done before whatever else comes at the same one. */
export class Timeline implements Source {
  readonly #core: Core
  readonly #first: number
  readonly #entries: readonly TimelineEntry[]

  constructor(core: Core, first: number, entries: readonly TimelineEntry[]) {
    this.#core = core
    this.#first = first
    this.#entries = entries
  }

  start(): void {
    for (const [place, { atMs }] of this.#entries.entries())
      this.#core.agenda.set((this.#first + place) * OWNERS + OF_SOURCE, atMs)
  }

  ring(entry: number): void {
    this.#entries[entry]!.act()
  }
}

export interface TimelineEntry {
  readonly atMs: number
  readonly act: () => void
}
