import type { FastifyBaseLogger } from 'fastify'
import { DamagedBodyError, intact } from '../../bodies/intact.ts'
import type { BodyStore } from '../../bodies/body-store.ts'
import type { BodyIndex, BodyName, BodyRecord } from '../../stores/store.ts'
import { Refusal, sentence } from '../answers/refusal.ts'
import { sayUnknownBody } from './body-refusals.ts'

export interface WholeBody {
  readonly record: BodyRecord
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A body that is put again lies elsewhere: the next look finds it there. */
const MOST_LOOKS = 3

/**
 * The bytes are read twice: once to know that they are right, before anything is answered, and once to be sent. If they change
 * between the two, the answer breaks off.
 */
export async function readBody(
  name: BodyName,
  { store, bodies }: { readonly store: Pick<BodyIndex, 'bodies'>; readonly bodies: Pick<BodyStore, 'read'> },
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<WholeBody> {
  const { bodyRef } = name
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const [record] = await store.bodies([name])
    if (record === undefined) throw new Refusal('body-not-found', { detail: sayUnknownBody(bodyRef) })
    const looked = await bodies.read(record.location)
    if (looked === undefined) continue
    await lookThrough(intact(looked, record), log)
    return { record, bytes: intact(onceAsked(bodies, record), record) }
  }
  log.warn({ code: 'body-missing' }, `the bytes of ${bodyRef} are gone`)
  throw new Refusal('body-not-found', { detail: `The bytes of ${bodyRef} are gone: upload them again.` })
}

/** Opened when the first byte is read: an answer whose caller has left is never read, and would leave its file open. */
async function* onceAsked(bodies: Pick<BodyStore, 'read'>, record: BodyRecord): AsyncIterable<Uint8Array> {
  const chunks = await bodies.read(record.location)
  if (chunks === undefined) throw new DamagedBodyError(record)
  yield* chunks
}

async function lookThrough(bytes: AsyncIterable<Uint8Array>, log: Pick<FastifyBaseLogger, 'warn'>): Promise<void> {
  try {
    for await (const chunk of bytes) void chunk
  } catch (error) {
    if (!(error instanceof DamagedBodyError)) throw error
    const { code, message } = error
    log.warn({ code }, message)
    throw new Refusal(code, { detail: `${sentence(message)} Upload them again.` })
  }
}
