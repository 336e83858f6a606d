import { everyRecord } from '../stores/record-pages.ts'
import { Rereading } from '../stores/rereading.ts'
import { documentOf, type RecordStore } from '../stores/store.ts'
import type { SecretDocument, SigningSecret } from './documents.ts'

/** The secrets that deliveries are signed with, at hand: a destination's own before its tenant's. */
export class SigningSecrets {
  readonly #store: Pick<RecordStore, 'records'>
  readonly #now: () => number
  #secrets: ReadonlyMap<string, readonly SigningSecret[]> = new Map()
  readonly #reading = new Rereading(() => this.#readAll())

  constructor(store: Pick<RecordStore, 'records'>, now: () => number) {
    this.#store = store
    this.#now = now
  }

  load(): Promise<void> {
    return this.#reading.anew()
  }

  /** All that are in use: two during a rotation, so that a receiver may change over in its own time. */
  of(tenant: string, destination: string): readonly string[] {
    if (this.#secrets.size === 0) return NONE
    const known = this.#secrets.get(placeOf(tenant, destination)) ?? this.#secrets.get(placeOf(tenant, ''))
    if (known === undefined) return NONE
    const now = this.#now()
    return known.flatMap(({ secret, until = Infinity }) => (now < until ? secret : []))
  }

  async #readAll(): Promise<void> {
    const records = await everyRecord(this.#store, 'secret')
    this.#secrets = new Map(
      records.map(record => {
        const { destination = '', secrets } = documentOf<SecretDocument>(record)
        return [placeOf(record.tenant, destination), secrets]
      }),
    )
  }
}

const NONE: readonly string[] = []

/** The destination is empty for the tenant as a whole. No tenant's name holds a space. */
function placeOf(tenant: string, destination: string): string {
  return `${tenant} ${destination}`
}
