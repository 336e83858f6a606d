import { presets } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { guarded } from '../access/guarded.test-kit.ts'

const TENANT = 'busy'
const PLAN = { filter: { errorCode: 'http-503' }, ratePerSecond: 10 }

/** A tenant with a policy and a replay, whose lists are answered one by one, as the test says. */
async function busyTenant() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const ends: (() => void)[] = []
  let isOpen = false
  const list: typeof store.list = async ask => {
    if (!isOpen) await new Promise<void>(resolve => void ends.push(resolve))
    return store.list(ask)
  }
  const served = await guarded({ clock, store: { ...store, list } })
  await served.addTenant(TENANT)
  await store.putPolicy({ tenant: TENANT, policyId: 'payments', document: presets.service.retry })
  const asOperator = { key: served.operator, tenant: TENANT }
  const { replayId } = (await served.as('POST', '/replays', { ...asOperator, body: PLAN })).json
  const key = await served.keyFor(TENANT, 'read')
  const lists = Array.from({ length: 10 }, () => served.as('GET', '/retry-tasks', { key }))
  while (ends.length < 2) await new Promise(setImmediate)
  onTestFinished(async () => {
    isOpen = true
    for (const end of ends) end()
    await Promise.all(lists)
  })
  return { served, asOperator, replayId: String(replayId), ends }
}

const READS: readonly string[] = [
  '/retry-policies',
  '/retry-policies/payments/versions',
  '/retry-policies/paymetns',
  '/dead-letters',
  '/replays',
  '/replays/{replayId}',
  '/destinations',
  '/secrets',
  '/keys',
  '/audit',
]

describe('what an operator reads of a tenant', () => {
  it.each(READS)('does not wait for the lists of that tenant: %s', async path => {
    const { served, asOperator, replayId, ends } = await busyTenant()
    const asked = served.as('GET', path.replace('{replayId}', replayId), asOperator)
    // It has to be in line before a turn is given: it was sent before these, which wait for nothing.
    for (let rounds = 0; rounds < 3; rounds++) await served.as('GET', '/healthz')
    ends.shift()!()
    assert.ok([200, 404].includes((await asked).status))
  })
})
