import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'
import type { KeyRing } from '../../access/key-ring.ts'
import { Refusal } from '../answers/refusal.ts'
import type { Access } from '../schemas/operation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

/** An operator acts for the tenant that is named here. */
const TENANT_HEADER = 'secondwind-tenant'

/** Who asks, as it was found before anything else was looked at. */
export function callerOf({ caller }: FastifyRequest): Caller {
  return caller
}

/** To be called before there are routes. */
export function knowCallers(api: FastifyInstance): void {
  // Nobody, until it is known who: a route that asks too early fails, and lets nobody in.
  api.decorateRequest('caller', null as never)
}

/** Finds out who asks, once for each request. Answers why the caller must not do this, if so. */
export function authorise(request: FastifyRequest, access: Access, keys: KeyRing): Refusal | undefined {
  if (access.scope === 'none') return undefined
  const caller = keys.isInForce ? withKey(request, keys) : LOCAL_CALLER
  if (caller instanceof Refusal) return caller
  const acting = forTenant(caller, request.headers[TENANT_HEADER], keys)
  if (acting instanceof Refusal) return acting
  request.caller = acting
  return beyond(acting, access)
}

const BEARER = /^bearer +(\S+) *$/i
/** Longer than any key: what is longer is not even hashed. */
const LONGEST_TOKEN = 512

function withKey({ headers: { authorization } }: FastifyRequest, keys: KeyRing): Caller | Refusal {
  const [, token = ''] = BEARER.exec(authorization ?? '') ?? []
  if (token === '') return keyMissing()
  return (token.length > LONGEST_TOKEN ? undefined : keys.callerWith(token)) ?? keyUnknown()
}

function keyMissing(): Refusal {
  return new Refusal('key-missing', {
    detail:
      'Send a key as Authorization: Bearer swk_…; whoever runs the service makes one with secondwind keys create.',
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function keyUnknown(): Refusal {
  return new Refusal('key-unknown', {
    detail: 'The key is none of this service, was revoked, or has expired.',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })
}

function forTenant(caller: Caller, named: string | readonly string[] | undefined, keys: KeyRing): Caller | Refusal {
  if (named === undefined) return caller
  if (named === caller.tenant) return { ...caller, isForAll: false }
  if (!caller.isOperator || typeof named !== 'string')
    return new Refusal('tenant-forbidden', { detail: `The key acts for ${caller.tenant} and for nobody else.` })
  if (!keys.hasTenant(named)) return new Refusal('tenant-not-found', { detail: 'There is no tenant of this name.' })
  return { ...caller, tenant: named, isForAll: false }
}

function beyond({ scopes, isOperator }: Caller, { scope, isForOperators }: Access): Refusal | undefined {
  if (scope !== 'none' && !scopes.has(scope))
    return new Refusal('scope-missing', {
      detail: `It takes a key with the scope ${scope}; this one has ${[...scopes].join(', ') || 'none'}.`,
    })
  if (!isForOperators || isOperator) return undefined
  return new Refusal('scope-missing', { detail: 'It takes a key of whoever runs the service, not of one tenant.' })
}
