import { check } from '@secondwind/resilience/rules'
import type { Call, Caller } from '../caller.ts'
import { INSTANT, refuse } from '../check/fields.ts'
import { listing, type Listing } from '../listing.ts'
import type { AuditEntry, AuditFilter } from '../wire/access.ts'
import type { Page } from '../wire/page.ts'

/** `/audit`: who did what, when and why, the newest first. */
export function auditOf(caller: Caller, filter: AuditFilter, { signal }: Call): Listing<AuditEntry> {
  refuse('the audit cannot be read', check.checkFields(filter, FIELDS))
  return listing(page =>
    caller.ask<Page<AuditEntry>>({
      method: 'GET',
      mark: 'items',
      path: '/audit',
      query: { ...filter, ...page },
      signal,
    }),
  )
}

const FIELDS: { readonly [field in keyof AuditFilter]-?: check.FieldCheck } = {
  actor: check.text(8_192),
  action: check.text(8_192),
  subject: check.text(8_192),
  since: INSTANT,
  until: INSTANT,
  all: check.flag,
}
