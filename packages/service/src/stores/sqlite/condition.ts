/**
 * How the store is. Most problems pass, and the next write that succeeds shows it. These last until the process ends, for a
 * success proves nothing:
 *
 *  1. A damaged file still takes writes on its sound pages. Nothing new goes in; the rest goes on as far as it can.
 *  2. A file that lost its name takes every write, and is gone with the process. Nothing new goes in.
 *  3. A lock that lost its name keeps no other process out. Nothing at all is written.
 *  4. A disk that could not keep what was written may have dropped it, and says so once. Nothing at all is written.
 *
 * New is what a caller counts on later: tasks, replays, policies, bodies, keys, secrets, tenants. What is under way ends, and
 * operators can stop, slow and shut out as long as this process lives.
 */
import { StoreUnavailableError, VERBS, type RecordWrite, type StoreHealth } from '../store.ts'
import { dataGoneFault, errorOf, lockGoneFault, type Fault } from './faults.ts'
import { isInPlace, type OpenedFiles } from './file.ts'
import { IN_MEMORY, type WriterVerb } from './verbs.ts'

const LOOK_EVERY_MS = 1_000

export class Condition {
  readonly #files: OpenedFiles
  readonly #now: () => number
  #passing: string | undefined
  #nothingNew: StoreUnavailableError | undefined
  #noWrites: StoreUnavailableError | undefined
  #lookedAt: number

  constructor(files: OpenedFiles, now: () => number) {
    this.#files = files
    this.#now = now
    this.#lookedAt = now()
  }

  /** There is a problem, and a write that succeeds would end it. */
  get mayPass(): boolean {
    return this.#passing !== undefined && this.#lasting === undefined
  }

  get problem(): Pick<StoreHealth, 'problem' | 'lasting'> {
    const lasting = this.#lasting
    if (lasting !== undefined) return { problem: lasting.message, lasting: lasting.code }
    return this.#passing === undefined ? {} : { problem: this.#passing }
  }

  wrote(): void {
    this.#passing = undefined
  }

  /** A write failed, or moving the log into the file did. */
  failed(fault: Fault): void {
    this.#passing = fault.message
    if (fault.isUnkept) this.#noWrites ??= errorOf(fault)
    this.couldNotRead(errorOf(fault))
  }

  couldNotRead(error: unknown): void {
    if (error instanceof StoreUnavailableError && error.code === 'store-corrupt') this.#nothingNew ??= error
  }

  /** Looks now whether the files are in their place. */
  look(): void {
    const { data, lock } = this.#files
    this.#lookedAt = this.#now()
    if (!isInPlace(data)) this.#nothingNew ??= errorOf(dataGoneFault(data.path))
    // A lock that went with its data misleads no other process: the data is not found either.
    else if (!isInPlace(lock)) this.#noWrites ??= errorOf(lockGoneFault(lock.path))
  }

  /** Throws what keeps the call from being made. */
  refuse(verb: WriterVerb, ask: unknown): void {
    if (this.#now() - this.#lookedAt >= LOOK_EVERY_MS) this.look()
    if (this.#noWrites !== undefined && !IN_MEMORY.has(verb)) throw this.#noWrites
    if (this.#nothingNew !== undefined && isMeantToLast(verb, ask)) throw this.#nothingNew
  }

  get #lasting(): StoreUnavailableError | undefined {
    return this.#noWrites ?? this.#nothingNew
  }
}

function isMeantToLast(verb: WriterVerb, ask: unknown): boolean {
  if (verb === 'endLeases' || verb === 'probe') return false
  const rule = VERBS[verb]
  if (rule.kind === 'read' || !rule.lasts) return false
  return verb !== 'write' || (ask as { readonly writes: readonly RecordWrite[] }).writes.some(isNews)
}

/** Not so: what steers the traffic of now, and what takes something away. */
function isNews({ kind, document }: RecordWrite): boolean {
  return kind !== 'control' && kind !== 'destination' && document !== null
}
