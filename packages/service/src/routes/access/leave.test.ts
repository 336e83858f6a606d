import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { attempt, TASK } from '../api.test-kit.ts'
import { guarded } from './guarded.test-kit.ts'

/** What is written in a caller's name. */
const WRITES = ['enqueue', 'cancel', 'attemptNow', 'replay', 'putPolicy', 'putBody', 'writeRecord'] as const

/** A service whose store lets writes wait at a door. */
async function withDoor() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  let door: Promise<void> | undefined
  let come = (): void => {}
  const held = (verb: (typeof WRITES)[number]) => async (ask: never, more: never, leave: never) => {
    come()
    await door
    return store[verb](ask, more, leave)
  }
  const slow = Object.fromEntries(WRITES.map(verb => [verb, held(verb)]))
  const served = await guarded({ clock, store: { ...store, ...slow } })
  const { operator } = served

  /** Revokes a new operator's key when so many writes of what it asks for wait at the door, and only then opens that. */
  const revokedMeanwhile = async (orders: readonly Order[], writes: number): Promise<string[]> => {
    const made = await served.as('POST', '/keys', { key: operator, body: { scopes: ['admin'], isOperator: true } })
    const { key, keyId } = made.json as { key: string; keyId: string }
    let open = (): void => {}
    door = new Promise(resolve => (open = resolve))
    let waiting = 0
    const haveCome = new Promise<void>(resolve => (come = () => ++waiting === writes && resolve()))
    const answers = orders.map(([method, path, body, type = 'application/json']) =>
      served.ask(method, path, {
        ...(body !== undefined && { body }),
        headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': type }) },
      }),
    )
    await haveCome
    door = undefined
    assert.equal((await served.as('DELETE', `/keys/${keyId}`, { key: operator })).status, 200)
    open()
    const told = (await Promise.all(answers)).map(({ status, json }) => `${status} ${json.code}`)
    const lines = (await store.auditTrail({ limit: 1_000 })).items.filter(({ actor }) => actor === keyId)
    assert.deepEqual(lines, [])
    return told
  }
  return { served, store, revokedMeanwhile }
}

const PLAN = { filter: { destination: 'https://dead.example' }, ratePerSecond: 1 }

type Order = readonly [method: string, path: string, body?: unknown, type?: string]

describe('a key that is revoked while what it asked for waits to be written', () => {
  it('has none of it written, whatever it is', async () => {
    const { served, store, revokedMeanwhile } = await withDoor()
    const made = async (path: string, body: unknown) =>
      (await served.as('POST', path, { key: served.operator, body })).json
    const waiting = await made('/retry-tasks', { ...TASK, delayMs: 60_000 })
    const dead = await made('/retry-tasks', { ...TASK, targetUrl: 'https://dead.example/' })
    await attempt(served, dead.taskId, { outcome: { kind: 'failure', fault: 'permanent' } })
    const control = await made('/controls', { level: 'retries-off', scope: { kind: 'all' }, reason: 'a' })
    const secret = await made('/secrets', {})
    const other = await made('/keys', { scopes: ['read'] })
    const replay = await made('/replays', PLAN)
    const tasks = await store.list({ filter: {}, limit: 100 })
    const orders: readonly Order[] = [
      ['POST', '/retry-tasks', TASK],
      ['POST', '/retry-tasks/batch', [TASK]],
      ['POST', '/bodies', 'bytes', 'text/plain'],
      ['DELETE', `/retry-tasks/${waiting.taskId}`],
      ['POST', `/retry-tasks/${waiting.taskId}/attempt-now`],
      ['POST', `/retry-tasks/${dead.taskId}/replay`],
      ['POST', '/retry-policies', { policyId: 'late', maxAttempts: 2 }],
      ['POST', '/replays', PLAN],
      ['POST', `/replays/${replay.replayId}/cancel`, {}],
      ['POST', '/tenants', { tenant: 'late' }],
      ['POST', '/keys', { scopes: ['read'] }],
      ['POST', `/keys/${other.keyId}/rotate`, {}],
      ['DELETE', `/keys/${other.keyId}`],
      ['POST', '/secrets', { destination: 'https://late.example' }],
      ['POST', `/secrets/${secret.secretId}/rotate`, {}],
      ['DELETE', `/secrets/${secret.secretId}`],
      ['POST', '/controls', { level: 'dispatch-off', scope: { kind: 'all' }, reason: 'late' }],
      ['DELETE', `/controls/${control.controlId}`],
      ['POST', '/destinations/https%3A%2F%2Fapi.example/pause', {}],
      ['PUT', '/destinations/https%3A%2F%2Fdead.example/settings', { name: 'late' }],
    ]
    assert.deepEqual(
      await revokedMeanwhile(orders, orders.length),
      orders.map(() => '401 key-unknown'),
    )
    assert.deepEqual(await store.list({ filter: {}, limit: 100 }), tasks)
  })

  it('nor what waits for its turn behind others for the same destination', async () => {
    const { store, revokedMeanwhile } = await withDoor()
    const orders = ['pause', 'drain', 'resume', 'pause'].map(
      verb => ['POST', `/destinations/https%3A%2F%2Fapi.example/${verb}`, {}] as const,
    )
    assert.deepEqual(
      await revokedMeanwhile(orders, 1),
      orders.map(() => '401 key-unknown'),
    )
    assert.deepEqual((await store.records({ kind: 'destination', limit: 10 })).items, [])
  })
})
