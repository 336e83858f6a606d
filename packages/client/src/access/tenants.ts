import { check } from '@secondwind/resilience/rules'
import type { Call, Caller } from '../caller.ts'
import { refuse } from '../check/fields.ts'
import { listing, type Listing } from '../listing.ts'
import type { Tenant, TenantInput } from '../wire/access.ts'
import type { Page } from '../wire/page.ts'
import { REASON } from './fields.ts'

/** `/tenants`, for whoever runs the service. */
export interface Tenants {
  /** Room for another one: tasks, policies, keys and settings of its own. */
  create(tenant: TenantInput, call?: Call): Promise<Tenant>
  list(call?: Call): Listing<Tenant>
}

export function tenantsOf(caller: Caller): Tenants {
  return {
    async create(tenant, { signal } = {}) {
      refuse('the tenant cannot be made', check.checkFields(tenant, FIELDS))
      return caller.ask({ method: 'POST', mark: 'tenant', path: '/tenants', body: tenant, idempotent: false, signal })
    },
    list: ({ signal } = {}) =>
      listing(query => caller.ask<Page<Tenant>>({ method: 'GET', mark: 'items', path: '/tenants', query, signal })),
  }
}

export const TENANT: check.FieldCheck = value =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(value)
    ? undefined
    : 'a name of 1 to 63 small letters, digits and dashes'

const FIELDS: { readonly [field in keyof TenantInput]-?: check.FieldCheck } = { tenant: TENANT, reason: REASON }
