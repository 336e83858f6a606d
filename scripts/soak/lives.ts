/** Starts the service again and again, and kills it at random moments. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@secondwind/resilience'
import type { Ledger } from './ledger.ts'
import { startProcess, type ServiceProcess } from './service-process.ts'

interface LivesOptions {
  readonly ledger: Ledger
  readonly random: Random
  readonly killCount: number
  readonly taskCount: number
  readonly start: Parameters<typeof startProcess>[0]
}

/** So many lives end while the service starts, at any moment of its start. */
const EARLY_SHARE = 0.1
const EARLY_MS = 800
/** The others end so long after an acceptance, at most: callers and the sink are busy then. */
const LINGER_MS = 400
/** By then all is read that a dead process had sent, and its requests are noted as its own. */
const DRAIN_MS = 50
const PAUSE_MS = 2

export class Lives {
  readonly #options: LivesOptions
  /** Rejects if a service ends that was not told to. */
  readonly crash: Promise<never>
  #crashed: (error: Error) => void = () => undefined
  #killsDone = 0
  #process: ServiceProcess
  #early = 0
  #isMeant = false

  constructor(options: LivesOptions) {
    this.#options = options
    this.crash = new Promise((_, reject) => (this.#crashed = reject))
    this.#process = this.#begin()
  }

  /** Kills that came before the service listened. */
  get early(): number {
    return this.#early
  }

  /** How many tasks may have been submitted by the end of this life: each has its part, so that every kill meets work. */
  get quota(): number {
    const { taskCount, killCount } = this.#options
    return Math.ceil((taskCount * (this.#killsDone + 1)) / (killCount + 1))
  }

  /** The address of the service, once one listens. */
  async url(): Promise<string> {
    for (;;) {
      const url = this.#process.url()
      if (url !== undefined) return url
      await sleep(PAUSE_MS)
    }
  }

  /** Resolves when the last kill is done, and a service runs that is left alive. */
  async run(): Promise<void> {
    const { ledger, killCount } = this.#options
    while (this.#killsDone < killCount) {
      await this.#untilItsMoment()
      ledger.killed(Date.now())
      await this.end('SIGKILL')
      await sleep(DRAIN_MS)
      this.#killsDone++
      this.#process = this.#begin()
    }
  }

  /** Ends the present process; its exit code, or null after a kill. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    this.#isMeant = true
    this.#process.kill(signal)
    return this.#process.ended
  }

  async #untilItsMoment(): Promise<void> {
    const { ledger, random } = this.#options
    if (random() < EARLY_SHARE) {
      await sleep(random() * EARLY_MS)
      if (this.#process.url() === undefined) this.#early++
      return
    }
    await this.url()
    const { accepted } = ledger.counts
    const goal = accepted + Math.floor(random() * (this.quota - accepted))
    while (ledger.counts.accepted < goal) await sleep(PAUSE_MS)
    await sleep(random() * LINGER_MS)
  }

  #begin(): ServiceProcess {
    const { ledger, start } = this.#options
    ledger.begun(Date.now())
    this.#isMeant = false
    const process = startProcess(start)
    void this.#watchOver(process)
    return process
  }

  async #watchOver(process: ServiceProcess): Promise<void> {
    const code = await process.ended
    if (process !== this.#process || this.#isMeant) return
    this.#crashed(new Error(`the service ended by itself, with ${code}: ${process.said()}`))
  }
}
