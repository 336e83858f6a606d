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
import type { KeyDocument, SecretDocument, SigningSecret } from './documents.ts'
import { hash, timingSafeEqual } from 'node:crypto'

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

/** A key as its owner has it: `swk_`, its id, and what only the owner knows. */
export interface KeyText {
  readonly keyId: string
  readonly secret: string
}

/** Scanners of leaked secrets go by such a beginning. */
const KEY = /^swk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/

const KEY_ID_BYTES = 8
const KEY_SECRET_BYTES = 32

export function newKeyText(randomBytes: (length: number) => Buffer): KeyText {
  return {
    keyId: randomBytes(KEY_ID_BYTES).toString('hex'),
    secret: randomBytes(KEY_SECRET_BYTES).toString('base64url'),
  }
}

export function writeKey({ keyId, secret }: KeyText): string {
  return `swk_${keyId}_${secret}`
}

export function readKey(text: string): KeyText | undefined {
  const [, keyId, secret] = KEY.exec(text) ?? []
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret }
}

/** The service keeps only this of a secret. It has 256 random bits, so that a plain hash is slow enough to hide it. */
export function hashOf(secret: string): string {
  return hash('sha256', secret)
}

/** Takes equally long for every secret, whatever its length. */
function isSameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}

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
