import { check } from '@secondwind/resilience/rules'
import { onVersion, type Call, type Caller, type ChangeCall } from '../caller.ts'
import { INSTANT, refuse } from '../check/fields.ts'
import { listing, type Listing } from '../listing.ts'
import type { Key, KeyInput, RotationInput, Scope, ShownKey } from '../wire/access.ts'
import type { Page } from '../wire/page.ts'
import { pathOf, REASON, ROTATION_FIELDS } from './fields.ts'

/** `/keys`. What makes a key one is in the answer that made it, and nowhere else. */
export interface Keys {
  /** Never repeated by itself: twice would be two keys. */
  create(key: KeyInput, call?: Call): Promise<ShownKey>
  /** Of the tenant; with `all`, for operators, of every tenant. */
  list(filter?: { readonly all?: boolean }, call?: Call): Listing<Key>
  /** A new text for the same key; the old one is good for a while yet. Never repeated by itself. */
  rotate(keyId: string, rotation?: RotationInput, call?: ChangeCall): Promise<ShownKey>
  revoke(keyId: string, why?: { readonly reason?: string }, call?: ChangeCall): Promise<Key>
}

const PATH = '/keys'

export function keysOf(caller: Caller): Keys {
  return {
    async create(key, { signal } = {}) {
      refuse('the key cannot be made', [
        ...(key?.scopes === undefined ? [{ at: 'scopes', is: undefined, say: `must be ${SOME_SCOPES}` }] : []),
        ...check.checkFields(key, FIELDS),
      ])
      return caller.ask({ method: 'POST', mark: 'key', path: PATH, body: key, idempotent: false, signal })
    },
    list: (filter = {}, { signal } = {}) =>
      listing(page =>
        caller.ask<Page<Key>>({ method: 'GET', mark: 'items', path: PATH, query: { ...filter, ...page }, signal }),
      ),
    async rotate(keyId, rotation = {}, { signal, ifVersion } = {}) {
      refuse('the key cannot be rotated', check.checkFields(rotation, ROTATION_FIELDS))
      const path = `${pathOf(PATH, 'keyId', keyId)}/rotate`
      return caller.ask({ method: 'POST', mark: 'key', path, body: rotation, ifVersion, idempotent: false, signal })
    },
    async revoke(keyId, why = {}, { signal, ifVersion } = {}) {
      const path = pathOf(PATH, 'keyId', keyId)
      return caller.ask({ method: 'DELETE', mark: 'keyId', path, query: why, ...onVersion(ifVersion), signal })
    },
  }
}

const SCOPES: { readonly [scope in Scope]: true } = {
  enqueue: true,
  read: true,
  'read-bodies': true,
  operate: true,
  admin: true,
}

const SOME_SCOPES = `a list of ${Object.keys(SCOPES).join(', ')}`

const FIELDS: { readonly [field in keyof KeyInput]-?: check.FieldCheck } = {
  scopes: value =>
    Array.isArray(value) && value.length > 0 && value.every(scope => Object.hasOwn(SCOPES, String(scope)))
      ? undefined
      : SOME_SCOPES,
  name: check.text(100),
  isOperator: check.flag,
  expiresAt: INSTANT,
  reason: REASON,
}
