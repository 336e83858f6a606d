import assert from 'node:assert/strict'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import { serve, type Served } from '../api.test-kit.ts'

const OPERATOR = { scopes: ['admin'], isOperator: true }

describe.each([
  ['memory', async (clock: VirtualClock) => openMemoryStore({ clock })],
  ['sqlite', async (clock: VirtualClock) => (await openTemporarySqliteStore({ clock })).store],
] as const)('keys of operators that revoke each other by two instances at the same moment, %s', (_, openStore) => {
  it('leave one with which keys can be made', async () => {
    const clock = virtualClock()
    const store = await openStore(clock)
    onTestFinished(() => store.close())
    const first = await serve({ clock, store })
    const made = (await first.ask('POST', '/keys', { body: OPERATOR })).json
    const headers = { authorization: `Bearer ${made.key}` }
    const other = (await first.ask('POST', '/keys', { body: OPERATOR, headers })).json
    // Each instance has read both keys, and hears nothing of the other.
    const second = await serve({ clock, store })
    const revoke = async ({ ask }: Served, { key }: { key: string }, { keyId }: { keyId: string }): Promise<string> => {
      const answer = await ask('DELETE', `/keys/${keyId}`, { headers: { authorization: `Bearer ${key}` } })
      return answer.status === 200 ? 'revoked' : answer.json.code
    }
    const ends = await Promise.all([revoke(first, made, other), revoke(second, other, made)])
    assert.deepEqual(ends.toSorted(), ['last-admin', 'revoked'])
    assert.equal((await store.records({ kind: 'key', limit: 10 })).items.length, 1)
  }, 20_000)
})
