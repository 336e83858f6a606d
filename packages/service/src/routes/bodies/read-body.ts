import type { FastifyBaseLogger } from 'fastify'
import { DamagedBodyError, intact } from '../../bodies/intact.ts'
import type { BodyStore } from '../../bodies/body-store.ts'
import type { BodyName, BodyRecord } from '../../stores/task-store.ts'
import { Refusal, sentence } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { sayUnknownBody } from '../tasks/enqueued.ts'

export interface WholeBody {
  readonly record: BodyRecord
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A body that is put again lies elsewhere; nobody puts one so often that it is never found. */
const MOST_LOOKS = 3

/**
 * The bytes are read twice: once to know that they are right, before anything is answered, and once to be sent. What
 * changes between the two breaks the answer off.
 */
export async function readBody(
  name: BodyName,
  { store, bodies }: Pick<ApiContext, 'store' | 'bodies'>,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<WholeBody> {
  const { bodyRef } = name
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const record = await store.body(name)
    if (record === undefined) throw new Refusal('body-not-found', { detail: sayUnknownBody(bodyRef) })
    const looked = await bodies.read(record.location)
    if (looked === undefined) continue
    await lookThrough(intact(looked, record), log)
    return { record, bytes: intact(onceAsked(bodies, record), record) }
  }
  log.warn({ code: 'body-missing' }, `the bytes of ${bodyRef} are gone`)
  throw new Refusal('body-not-found', { detail: `The bytes of ${bodyRef} are gone: upload them again.` })
}

/** Opened by whoever reads the first byte: an answer that nobody waits for is never read, and would leave its file open. */
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
