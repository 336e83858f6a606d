/** RFC 9110 §13.1.1: a change is made only to the version that was read. The store decides, in the write itself. */
import type { FastifyRequest } from 'fastify'
import { Type, type TObject } from 'typebox'
import { Refusal } from '../answers/refusal.ts'

const ETAG = /^"(\d{1,15})"$/

/** The header, of operations that heed it. */
export const IF_MATCH: TObject = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      pattern: ETAG.source,
      'x-takes': 'the ETag of what was read, as it came, such as "3"',
      description: 'The ETag of what was read: if it is another by now, nothing is done.',
      examples: ['"3"'],
    }),
  ),
})

export function etagOf(version: number): string {
  return `"${version}"`
}

/** Undefined when any version will do, or when it is no ETag of ours. */
export function versionAsked({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  const [, digits] = ETAG.exec(headers['if-match'] ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** For a write that takes it or leaves it. */
export function ifVersionAsked(request: Pick<FastifyRequest, 'headers'>): { readonly ifVersion?: number } {
  const ifVersion = versionAsked(request)
  return ifVersion === undefined ? {} : { ifVersion }
}

/** Says no where a request names another version than the record has, if it is there. */
export function refuseOtherVersion(
  request: Pick<FastifyRequest, 'headers'>,
  record: { readonly version: number } | undefined,
): void {
  const asked = versionAsked(request)
  if (record !== undefined && record.version !== (asked ?? record.version)) throw otherVersion(record.version)
}

export function otherVersion(version: number): Refusal {
  return new Refusal('version-changed', {
    detail: `It is version ${version} by now, and nothing was done: read it again, and decide anew.`,
    headers: { etag: etagOf(version) },
  })
}
