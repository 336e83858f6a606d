/**
 * Who may come in.
 *
 *  1. As soon as there is one key, every request needs one, as long as the process lives. The door does not open when the
 *     last key expires or is revoked.
 *  2. All keys are at hand: a request costs one hash, and a stranger's guess never reaches the store.
 *  3. A key is written here, and all keys are read again before the caller is answered: from then on a text that the write
 *     has ended opens nothing. Other instances read the keys at their next beat. A request that was let in before is served.
 */
import { everyRecord } from '../stores/record-pages.ts'
import { Rereading } from '../stores/rereading.ts'
import { documentOf, type AuditLine, type RecordStore, type RecordWrite, type StoredRecord } from '../stores/store.ts'
import { EVERY_TENANT } from '../task/lane.ts'
import { ADMIN_CALLER, DEFAULT_TENANT, scopesOf, type Caller } from './caller.ts'
import type { KeyDocument } from './documents.ts'
import { hashOf, isSameHash, readKey } from './key-text.ts'

interface KeyRingOptions {
  readonly store: Pick<RecordStore, 'records' | 'write'>
  readonly now: () => number
  /** The key that the service was started with. */
  readonly adminKey?: string
}

interface KnownKey {
  readonly document: KeyDocument
  readonly caller: Caller
}

export class KeyRing {
  readonly #options: KeyRingOptions
  readonly #adminHash: string | undefined
  #keys: ReadonlyMap<string, KnownKey> = new Map()
  #tenants: ReadonlySet<string> = new Set()
  #hasHadKeys = false
  readonly #reading = new Rereading(() => this.#readAll())

  constructor(options: KeyRingOptions) {
    this.#options = options
    this.#adminHash = options.adminKey === undefined ? undefined : hashOf(options.adminKey)
  }

  /** Whether requests need a key. */
  get isInForce(): boolean {
    return this.#adminHash !== undefined || this.#hasHadKeys
  }

  load(): Promise<void> {
    return this.#reading.anew()
  }

  /** Makes, changes or removes a key, with the records that belong to the same write. */
  async write(writes: readonly RecordWrite[], audit: AuditLine): ReturnType<RecordStore['write']> {
    const written = await this.#options.store.write(writes, audit)
    if (written.kind === 'written') await this.load()
    return written
  }

  hasTenant(tenant: string): boolean {
    return tenant === DEFAULT_TENANT || this.#tenants.has(tenant)
  }

  /** All of them. The default tenant, which is always there, comes first. */
  tenants(): readonly string[] {
    return [DEFAULT_TENANT, ...this.#tenants]
  }

  /** The caller that has this key; undefined when the text is no key, or no longer one. */
  callerWith(token: string): Caller | undefined {
    if (this.#adminHash !== undefined && isSameHash(hashOf(token), this.#adminHash)) return ADMIN_CALLER
    const text = readKey(token)
    const key = text && this.#keys.get(text.keyId)
    if (text === undefined || key === undefined) return undefined
    const secretHash = hashOf(text.secret)
    const expiresAt = endOf(key.document, hash => isSameHash(hash, secretHash))
    if (this.#options.now() >= expiresAt) return undefined
    return { ...key.caller, secretHash, ...(expiresAt < Infinity && { expiresAt }) }
  }

  /** Whether a caller that was let in would be let in now. Only `/events` asks: its streams are open for hours. */
  isStillGood({ actor, secretHash = '' }: Caller): boolean {
    if (!this.isInForce) return true
    if (actor === ADMIN_CALLER.actor) return this.#adminHash !== undefined
    const key = this.#keys.get(actor)
    // The hash was compared in constant time on the way in: it is no guess any more.
    return key !== undefined && this.#options.now() < endOf(key.document, hash => hash === secretHash)
  }

  /** Whether an operator could still make keys, and for good, if this key were gone. */
  hasOtherAdmin(keyId: string): boolean {
    if (this.#adminHash !== undefined) return true
    return [...this.#keys].some(
      ([id, { caller, document }]) =>
        id !== keyId && caller.isOperator && caller.scopes.has('admin') && document.expiresAt === undefined,
    )
  }

  async #readAll(): Promise<void> {
    const { store } = this.#options
    const [keys, tenants] = await Promise.all([everyRecord(store, 'key'), everyRecord(store, 'tenant')])
    this.#keys = new Map(keys.map(record => [record.id, keyOf(record)]))
    this.#tenants = new Set(tenants.map(({ id }) => id))
    this.#hasHadKeys ||= keys.length > 0
  }
}

/** When a text of the key ends, as part of a rotation or with the key; long ago when it is none of its texts. */
function endOf({ hashes, expiresAt = Infinity }: KeyDocument, isGiven: (hash: string) => boolean): number {
  let end = -Infinity
  for (const { hash, until = Infinity } of hashes) if (isGiven(hash) && until > end) end = until
  return Math.min(end, expiresAt)
}

function keyOf(record: StoredRecord): KnownKey {
  const { id, tenant } = record
  const key = documentOf<KeyDocument>(record)
  const isOperator = tenant === EVERY_TENANT
  return {
    document: key,
    caller: {
      actor: id,
      tenant: isOperator ? DEFAULT_TENANT : tenant,
      isOperator,
      isForAll: isOperator,
      scopes: scopesOf(key.scopes),
    },
  }
}
