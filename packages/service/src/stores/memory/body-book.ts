import type { NewTask } from '../../task/accept.ts'
import type { AcceptedTask } from '../../task/task.ts'
import type { BodyName, BodyRecord, PutBody, PutBodyResult, SweepBodies } from '../task-store.ts'

interface Entry {
  record: BodyRecord
  /** Tasks that need it. */
  uses: number
  /** When it was put or needed last. */
  usedAt: number
}

export class BodyBook {
  readonly #byName = new Map<string, Entry>()
  readonly #locations = new Set<string>()
  readonly #bytesOf = new Map<string, number>()

  find(name: BodyName): BodyRecord | undefined {
    return this.#byName.get(keyOf(name))?.record
  }

  put({ mostBytes, ...body }: PutBody, now: number): PutBodyResult {
    const present = this.#byName.get(keyOf(body))
    if (present !== undefined) {
      const leftLocation = this.#move(present, body)
      present.usedAt = now
      return { kind: 'existing', record: present.record, ...(leftLocation !== undefined && { leftLocation }) }
    }
    if ((this.#bytesOf.get(body.tenant) ?? 0) + body.sizeBytes > mostBytes) return { kind: 'full' }
    const record = { ...body, createdAt: now }
    this.#byName.set(keyOf(body), { record, uses: 0, usedAt: now })
    this.#locations.add(body.location)
    this.#count(body, body.sizeBytes)
    return { kind: 'created', record }
  }

  /** One more task needs it; a body that came with its task is put first. */
  attach({ tenant, request, upload }: NewTask, mostBytes: number, now: number): PutBodyResult | { kind: 'unknown' } {
    const { bodyRef, sizeBytes } = request.storedBody!
    const result: PutBodyResult | { kind: 'unknown' } =
      upload === undefined
        ? this.#touch({ tenant, bodyRef }, now)
        : this.put({ tenant, bodyRef, sizeBytes, mostBytes, ...upload }, now)
    const entry = this.#byName.get(keyOf({ tenant, bodyRef }))
    if (entry !== undefined && result.kind !== 'full') entry.uses++
    return result
  }

  /** A task that needed it is forgotten. */
  detach({ tenant, request }: AcceptedTask, now: number): void {
    if (request.storedBody === undefined) return
    const entry = this.#byName.get(keyOf({ tenant, bodyRef: request.storedBody.bodyRef }))!
    entry.uses--
    entry.usedAt = now
  }

  sweep({ unusedBefore, limit }: SweepBodies): string[] {
    const unused = [...this.#byName].filter(([, { uses, usedAt }]) => uses === 0 && usedAt < unusedBefore)
    const swept = unused.toSorted(([, one], [, other]) => one.usedAt - other.usedAt).slice(0, limit)
    return swept.map(([key, { record }]) => {
      this.#byName.delete(key)
      this.#locations.delete(record.location)
      this.#count(record, -record.sizeBytes)
      return record.location
    })
  }

  kept(locations: readonly string[]): string[] {
    return locations.filter(location => this.#locations.has(location))
  }

  #touch(name: BodyName, now: number): PutBodyResult | { kind: 'unknown' } {
    const entry = this.#byName.get(keyOf(name))
    if (entry === undefined) return { kind: 'unknown' }
    entry.usedAt = now
    return { kind: 'existing', record: entry.record }
  }

  #move(entry: Entry, { location, contentType }: Pick<BodyRecord, 'location' | 'contentType'>): string | undefined {
    const left = entry.record.location
    entry.record = { ...entry.record, location, contentType }
    if (left === location) return undefined
    this.#locations.delete(left)
    this.#locations.add(location)
    return left
  }

  #count({ tenant }: BodyName, bytes: number): void {
    this.#bytesOf.set(tenant, (this.#bytesOf.get(tenant) ?? 0) + bytes)
  }
}

/** A tenant is a word, so that the space ends it. */
function keyOf({ tenant, bodyRef }: BodyName): string {
  return `${tenant} ${bodyRef}`
}
