import type { Call, Caller } from './caller.ts'
import { BODY_REF, refuse, refuseUnless } from './check/fields.ts'
import type { StoredBody } from './wire/body.ts'

/** `/bodies`. */
export interface Bodies {
  /** Uploads bytes, at most 16 MiB; the same again are the same body. A day without a task, and it is gone. */
  upload(bytes: Uint8Array | string, upload?: Upload): Promise<StoredBody>
  /** The bytes, as they were uploaded. */
  get(bodyRef: string, call?: Call): Promise<Uint8Array<ArrayBuffer>>
}

export interface Upload extends Call {
  /** `application/octet-stream` unless told; a text is sent in UTF-8. */
  readonly contentType?: string | undefined
}

export function bodiesOf(caller: Caller): Bodies {
  return {
    async upload(bytes, { contentType = 'application/octet-stream', signal } = {}) {
      const given = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes
      refuse(
        'the body cannot be uploaded',
        given instanceof Uint8Array && given.length > 0
          ? []
          : [{ at: 'bytes', is: undefined, say: 'must be a text or a Uint8Array, and not empty' }],
      )
      // Twice is once: the bytes are their own name.
      return caller.ask({
        method: 'POST',
        mark: 'bodyRef',
        path: '/bodies',
        body: given,
        contentType,
        idempotent: true,
        signal,
      })
    },
    async get(bodyRef, { signal } = {}) {
      refuseUnless(BODY_REF, 'bodyRef', bodyRef, 'the body cannot be asked for')
      return caller.bytesOf({ method: 'GET', path: `/bodies/${bodyRef}`, signal })
    },
  }
}
