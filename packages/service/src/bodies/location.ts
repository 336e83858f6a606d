/** Where the bytes of a body lie: `tenant/bodyRef.random`. */
import { strict as assert } from 'node:assert'
import { TENANT_NAME } from '../access/caller.ts'
import type { BodyName } from '../stores/store.ts'
import { BODY_REF_PATTERN } from '../task/body-ref.ts'

/** 32 hexadecimal digits, so that no location is made twice. */
export const RANDOM = '[\\da-f]{32}'

/** A tenant is a word, a `bodyRef` a hash: neither can lead out of its folder. */
const LOCATION = new RegExp(`^(${whole(TENANT_NAME)})/(${whole(BODY_REF_PATTERN)})\\.${RANDOM}$`)

export function locationOf({ tenant, bodyRef }: BodyName, random: string): string {
  const location = `${tenant}/${bodyRef}.${random}`
  assert(LOCATION.test(location), 'a tenant, a bodyRef and 32 digits make a location')
  return location
}

/** Whose body lies there; undefined for a text that is no location. */
export function nameAt(location: string): BodyName | undefined {
  const [, tenant, bodyRef] = LOCATION.exec(location) ?? []
  return tenant === undefined || bodyRef === undefined ? undefined : { tenant, bodyRef }
}

/** A pattern without the marks of begin and end. */
function whole(pattern: string): string {
  assert(pattern.startsWith('^') && pattern.endsWith('$'), 'the pattern is for a whole text')
  return pattern.slice(1, -1)
}
