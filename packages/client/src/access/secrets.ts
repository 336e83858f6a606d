import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from '../caller.ts'
import { DESTINATION, refuse } from '../check/fields.ts'
import { listing, type Listing } from '../listing.ts'
import type { RotationInput, Secret, SecretInput, ShownSecret } from '../wire/access.ts'
import type { Page } from '../wire/page.ts'
import { pathOf, REASON, ROTATION_FIELDS } from './fields.ts'

/** `/secrets`: what deliveries are signed with. */
export interface Secrets {
  /** Signs from now on: deliveries to one destination, or to all that have no secret of their own. */
  create(secret?: SecretInput, call?: Call): Promise<ShownSecret>
  list(call?: Call): Listing<Secret>
  /** Signs with a new secret, and for a while with the old one as well. Never repeated by itself. */
  rotate(secretId: string, rotation?: RotationInput, call?: ChangeCall): Promise<ShownSecret>
  /** Signs with it no longer. */
  remove(secretId: string, why?: { readonly reason?: string }, call?: ChangeCall): Promise<Secret>
}

const PATH = '/secrets'

export function secretsOf(caller: Caller): Secrets {
  return {
    async create(secret = {}, { signal } = {}) {
      refuse('the secret cannot be made', check.checkFields(secret, FIELDS))
      return caller.ask({ method: 'POST', mark: 'secret', path: PATH, body: secret, idempotent: false, signal })
    },
    list: ({ signal } = {}) =>
      listing(query => caller.ask<Page<Secret>>({ method: 'GET', mark: 'items', path: PATH, query, signal })),
    async rotate(secretId, rotation = {}, { signal, ifVersion } = {}) {
      refuse('the secret cannot be rotated', check.checkFields(rotation, ROTATION_FIELDS))
      const path = `${pathOf(PATH, 'secretId', secretId)}/rotate`
      return caller.ask({
        method: 'POST',
        mark: 'secret',
        path,
        body: rotation,
        ifVersion,
        idempotent: false,
        signal,
      })
    },
    async remove(secretId, why = {}, { signal, ifVersion } = {}) {
      const path = pathOf(PATH, 'secretId', secretId)
      return caller.ask({ method: 'DELETE', mark: 'secretId', path, query: why, ...onVersion(ifVersion), signal })
    },
  }
}

const FIELDS: { readonly [field in keyof SecretInput]-?: check.FieldCheck } = {
  destination: DESTINATION,
  reason: REASON,
}
