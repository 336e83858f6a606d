import type { BodyUpload } from '../../../task/accept.ts'
import type { StoredBody } from '../../../task/task.ts'
import type { PutBody, PutBodyResult, SweepBodies } from '../../task-store.ts'
import type { Writer } from './writer.ts'

/** Keeps what was uploaded; the same bytes again lie where the newest upload is. */
export function putBody({ now, bodies }: Writer, { mostBytes, ...body }: PutBody): PutBodyResult {
  const present = bodies.find(body)
  if (present !== undefined) {
    const record = { ...present, location: body.location, contentType: body.contentType }
    bodies.move(record, now)
    return { kind: 'existing', record, ...(present.location !== record.location && { leftLocation: present.location }) }
  }
  if (bodies.bytesOf(body.tenant) + body.sizeBytes > mostBytes) return { kind: 'full' }
  const record = { ...body, createdAt: now }
  bodies.add(record)
  return { kind: 'created', record }
}

export interface Attach extends StoredBody {
  readonly tenant: string
  readonly upload: BodyUpload | null
  readonly mostBytes: number
}

/** One more task needs it; a body that came with its task is put first. */
export function attach(writer: Writer, ask: Attach): PutBodyResult | { readonly kind: 'unknown' } {
  const { upload, ...body } = ask
  const present = upload === null ? writer.bodies.find(body) : undefined
  if (upload === null && present === undefined) return { kind: 'unknown' }
  const result: PutBodyResult =
    upload === null ? { kind: 'existing', record: present! } : putBody(writer, { ...body, ...upload })
  if (result.kind !== 'full') writer.bodies.use(body, 1, writer.now)
  return result
}

/** Forgets what no task needs; answers where it lay. */
export function sweepBodies({ bodies }: Writer, ask: SweepBodies): string[] {
  return bodies.unused(ask).map(body => {
    bodies.remove(body)
    return body.location
  })
}
