/**
 * What the service gives away to get it back: the place where a page ended. It counts every tenant's tasks, and would tell
 * each how much the others do, so nobody but the service reads it.
 *
 * The key is kept in the store: every instance opens what another has sealed, after a restart, too.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { documentOf, type TaskStore } from '../stores/task-store.ts'
import { EVERY_TENANT } from '../task/lane.ts'

export interface Seal {
  /** The same for the same text and purpose. */
  readonly seal: (text: string, purpose: string) => string
  /** Undefined for what was not sealed here, or for another purpose. */
  readonly open: (sealed: string, purpose: string) => string | undefined
  /** A name for something that has a number: it tells two of them apart, and nothing else. */
  readonly nameOf: (text: string, purpose: string) => string
}

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'
/** The length of a text tells how large the number in it is: all of a kind have the same. */
const BLOCK = 32
const NAME_BYTES = 8

export function createSeal(key: Uint8Array): Seal {
  const derived = (label: string): Buffer => createHmac('sha256', key).update(label).digest()
  const [cipherKey, nonceKey, nameKey] = [derived('cipher'), derived('nonce'), derived('name')]
  const digest = (of: Buffer, purpose: string, text: string): Buffer =>
    createHmac('sha256', of)
      .update(JSON.stringify([purpose, text]))
      .digest()
  return {
    seal: (text, purpose) => {
      // Of the text itself: no nonce is ever used for two texts, however many instances seal at once.
      const nonce = digest(nonceKey, purpose, text).subarray(0, NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([cipher.update(padded(text)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open: (sealed, purpose) => {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined
      const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)]
      const decipher = createDecipheriv(CIPHER, cipherKey, nonce).setAAD(Buffer.from(purpose)).setAuthTag(tag)
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
      try {
        return Buffer.concat([text, decipher.final()]).toString().trimEnd()
      } catch {
        return undefined // whoever asked is told that it is none
      }
    },
    nameOf: (text, purpose) => digest(nameKey, purpose, text).subarray(0, NAME_BYTES).toString('hex'),
  }
}

/** A cursor has no space. */
function padded(text: string): string {
  return text.padEnd(Math.ceil(text.length / BLOCK) * BLOCK)
}

const NAME = { kind: 'seal', id: 'seal' } as const

/** The seal of a store, which is made with its first service. */
export async function sealOf(store: Pick<TaskStore, 'record' | 'writeRecord'>): Promise<Seal> {
  const known = await store.record(NAME)
  if (known !== undefined) return createSeal(keyIn(documentOf<SealDocument>(known)))
  const document: SealDocument = { key: randomBytes(KEY_BYTES).toString('base64') }
  const written = await store.writeRecord({ ...NAME, tenant: EVERY_TENANT, document: { ...document }, ifVersion: 0 })
  // Another instance was quicker: its key counts.
  return written.kind === 'written' ? createSeal(keyIn(document)) : sealOf(store)
}

interface SealDocument {
  /** In base64. */
  readonly key: string
}

function keyIn({ key }: SealDocument): Buffer {
  return Buffer.from(key, 'base64')
}
