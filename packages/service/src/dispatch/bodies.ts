import type { BodyStore } from '../bodies/body-store.ts'
import { DamagedBodyError, intact } from '../bodies/intact.ts'
import type { BodyRecord, Store } from '../stores/store.ts'
import type { AcceptedTask, StoredBody } from '../task/task.ts'
import type { DispatchEvents } from '../telemetry/events.ts'
import { askForRoom, leaveLine, leaveRoom, newRoom, nextPlace, type Place, type Room } from './room.ts'
import type { StoreCalls } from './store-calls.ts'

/** All large bodies that are in memory together: of the largest there is room for sixteen, twelve of them of one lane. */
const MOST_BYTES = 268_435_456

/** A body that is put again lies elsewhere. More looks would mean that it is put all the time. */
const MOST_LOOKS = 3

interface BodiesOptions {
  readonly store: Pick<Store, 'bodies'>
  readonly bodies: Pick<BodyStore, 'read'>
  readonly calls: StoreCalls
  readonly events: Pick<DispatchEvents, 'warning'>
  /** In memory together. */
  readonly mostBytes?: number
}

/** A body in memory: there is room for another's once it is let go. */
export interface FetchedBody {
  readonly bytes: Uint8Array
  readonly letGo: () => void
}

/** Large bodies, on their way to an attempt: whole, and what they should be, or not at all. */
export class Bodies {
  readonly #options: BodiesOptions
  readonly #room: Room
  readonly #waiting = new Map<Place, () => void>()

  constructor(options: BodiesOptions) {
    this.#options = options
    this.#room = newRoom(options.mostBytes ?? MOST_BYTES)
  }

  /**
   * Waits until there is room for it, and then reads it, if it is still of use; whoever has left waits no longer.
   * `missing`: it is gone or was changed, for good; `late`: nobody can use it any more; undefined: nobody can tell now.
   */
  async fetch(
    task: AcceptedTask,
    storedBody: StoredBody,
    isOfUse: () => boolean = () => true,
    left?: AbortSignal,
  ): Promise<FetchedBody | 'missing' | 'late' | undefined> {
    const place = askForRoom(this.#room, task, storedBody.sizeBytes)
    if (!(await this.#hasRoom(place, left))) return 'late'
    const letGo = (): void => this.#letGo(place)
    // Reading what is not sent would cost the others as much as if it were.
    const bytes = isOfUse() ? await this.#read(task.tenant, storedBody) : 'late'
    if (typeof bytes === 'object') return { bytes, letGo }
    letGo()
    return bytes
  }

  async #hasRoom(place: Place, left: AbortSignal | undefined): Promise<boolean> {
    const leave = (): void => {
      if (!this.#waiting.delete(place)) return
      leaveLine(this.#room, place)
      answer(false)
      this.#serve()
    }
    let answer!: (hasRoom: boolean) => void
    const answered = new Promise<boolean>(resolve => (answer = resolve))
    this.#waiting.set(place, () => answer(true))
    left?.addEventListener('abort', leave)
    this.#serve()
    return answered
  }

  #letGo(place: Place): void {
    leaveRoom(this.#room, place)
    this.#serve()
  }

  #serve(): void {
    for (let place = nextPlace(this.#room); place !== undefined; place = nextPlace(this.#room)) {
      this.#waiting.get(place)!()
      this.#waiting.delete(place)
    }
  }

  async #read(tenant: string, storedBody: StoredBody): Promise<Uint8Array | 'missing' | undefined> {
    try {
      return await this.#find(tenant, storedBody)
    } catch (error) {
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

  async #find(tenant: string, { bodyRef, sizeBytes }: StoredBody): Promise<Uint8Array | 'missing' | undefined> {
    const { store, bodies, calls } = this.#options
    let last: BodyRecord | undefined
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      const answer = await calls.read(() => store.bodies([{ tenant, bodyRef }]))
      if (answer === undefined) return undefined
      const [record] = answer.value
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
