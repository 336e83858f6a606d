import type { BodyStore } from '../bodies/body-store.ts'
import { DamagedBodyError, intact } from '../bodies/intact.ts'
import type { BodyRecord, TaskStore } from '../stores/task-store.ts'
import type { AcceptedTask, StoredBody } from '../task/task.ts'
import type { DispatchEvents } from '../telemetry/events.ts'
import type { StoreCalls } from './store-calls.ts'

/** All large bodies that are in memory together: of the largest there is room for sixteen. */
const MOST_BYTES = 268_435_456

/** A body that is put again lies elsewhere; nobody puts one so often that it is never found. */
const MOST_LOOKS = 3

interface BodiesOptions {
  readonly store: Pick<TaskStore, 'body'>
  readonly bodies: Pick<BodyStore, 'read'>
  readonly calls: StoreCalls
  readonly events: Pick<DispatchEvents, 'warning'>
  /** In memory together. */
  readonly mostBytes?: number
}

/** Large bodies, on their way to an attempt: whole, and what they should be, or not at all. */
export class Bodies {
  readonly #options: BodiesOptions
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = []
  #heldBytes = 0

  constructor(options: BodiesOptions) {
    this.#options = options
  }

  /**
   * Waits until there is room for it, which is held until `letGo`. `missing`: it is gone or was changed, for good;
   * undefined: nobody can tell now.
   */
  async fetch({ tenant }: AcceptedTask, storedBody: StoredBody): Promise<Uint8Array | 'missing' | undefined> {
    await this.#room(storedBody.sizeBytes)
    try {
      const body = await this.#find(tenant, storedBody)
      if (typeof body !== 'object') this.letGo(storedBody)
      return body
    } catch (error) {
      this.letGo(storedBody)
      if (error instanceof DamagedBodyError) {
        this.#options.events.warning(error.code, error.message)
        return 'missing'
      }
      // Too many files are open, a disk hiccups: what may pass is no reason to give anything up.
      const { code = 'unknown' } = error as NodeJS.ErrnoException
      this.#options.events.warning('body-unreadable', `the body ${storedBody.bodyRef} cannot be read now: ${code}`)
      return undefined
    }
  }

  letGo({ sizeBytes }: StoredBody): void {
    this.#heldBytes -= sizeBytes
    while (this.#waiting.length > 0 && this.#hasRoom(this.#waiting[0]!.bytes)) {
      const { bytes, go } = this.#waiting.shift()!
      this.#heldBytes += bytes
      go()
    }
  }

  async #room(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) this.#heldBytes += bytes
    else await new Promise<void>(go => this.#waiting.push({ bytes, go }))
  }

  /** One alone always has room, however large it is. */
  #hasRoom(bytes: number): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + bytes <= (this.#options.mostBytes ?? MOST_BYTES)
  }

  async #find(tenant: string, { bodyRef, sizeBytes }: StoredBody): Promise<Uint8Array | 'missing' | undefined> {
    const { store, bodies, calls } = this.#options
    let last: BodyRecord | undefined
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const answer = await calls.read(() => store.body({ tenant, bodyRef }))
      if (answer === undefined) return undefined
      const record = answer.value
      if (record === undefined || record.location === last?.location) return 'missing'
      const chunks = await bodies.read(record.location)
      if (chunks !== undefined) return whole(chunks, { bodyRef, sizeBytes })
      // Put again meanwhile, it lies elsewhere now.
      last = record
    }
    return undefined
  }
}

async function whole(chunks: AsyncIterable<Uint8Array>, expected: StoredBody): Promise<Uint8Array> {
  const body = new Uint8Array(expected.sizeBytes)
  let at = 0
  for await (const chunk of intact(chunks, expected)) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
