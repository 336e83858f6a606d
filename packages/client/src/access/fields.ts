import { check } from '@secondwind/resilience/rules'
import { refuseUnless } from '../check/fields.ts'

export const REASON: check.FieldCheck = check.text(500)

/** Ids become part of a path: one that leads somewhere else is none. */
const SHORT_ID: check.FieldCheck = value =>
  typeof value === 'string' && /^[\da-f]{16}$/.test(value) ? undefined : 'an id of 16 digits and letters a to f'

export function pathOf(path: string, field: string, id: string): string {
  refuseUnless(SHORT_ID, field, id, `there is no such ${field.replace(/Id$/, '')}`)
  return `${path}/${id}`
}

export const ROTATION_FIELDS: { readonly [field: string]: check.FieldCheck } = {
  overlapMs: check.milliseconds(),
  reason: REASON,
}
