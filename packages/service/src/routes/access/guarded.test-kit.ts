import assert from 'node:assert/strict'
import type { Scope } from '../../access/caller.ts'
import { serve, type Answered, type Served, type ServeOptions } from '../api.test-kit.ts'

interface Sent {
  readonly key?: string
  readonly tenant?: string
  readonly body?: unknown
  readonly ifMatch?: string | undefined
}

interface Guarded extends Served {
  readonly operator: string
  readonly as: (method: string, path: string, sent?: Sent) => Promise<Answered>
  readonly keyFor: (tenant: string, ...scopes: Scope[]) => Promise<string>
  readonly addTenant: (tenant: string) => Promise<void>
}

/** A service with an operator, and with the callers that it makes keys for. */
export async function guarded(options: ServeOptions = {}): Promise<Guarded> {
  const served = await serve(options)
  const first = await served.ask('POST', '/keys', { body: { scopes: ['admin'], isOperator: true } })
  assert.equal(first.status, 201)
  const operator = (first.json as { key: string }).key
  const as = (method: string, path: string, { key, tenant, body, ifMatch }: Sent = {}) =>
    served.ask(method, path, {
      ...(body !== undefined && { body }),
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(tenant !== undefined && { 'secondwind-tenant': tenant }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
    })
  const keyFor = async (tenant: string, ...scopes: Scope[]): Promise<string> => {
    const { json, status } = await as('POST', '/keys', { key: operator, tenant, body: { scopes } })
    assert.equal(status, 201, JSON.stringify(json))
    return (json as { key: string }).key
  }
  const addTenant = async (tenant: string): Promise<void> => {
    assert.equal((await as('POST', '/tenants', { key: operator, body: { tenant } })).status, 201)
  }
  return { ...served, operator, as, keyFor, addTenant }
}
