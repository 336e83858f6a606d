import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import { forgetEndedControls } from './ended-controls.ts'

const DAY_MS = 86_400_000

describe('controls', () => {
  it('are forgotten a day after their end, and never while they are in force', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const now = clock.now()
    const ends: { [id: string]: object } = {
      forever: {},
      'to-come': { expiresAt: now + 1 },
      lately: { endedAt: now - DAY_MS },
      'long-ago': { endedAt: now - DAY_MS - 1, expiresAt: now + 1 },
      'by-itself': { expiresAt: now - DAY_MS - 1 },
    }
    await store.write(
      Object.entries(ends).map(([id, document]) => ({
        kind: 'control',
        id,
        tenant: 'acme',
        document: { ...document },
      })),
    )
    await forgetEndedControls(store, now)
    const { items } = await store.records({ kind: 'control', limit: 10 })
    assert.deepEqual(
      items.map(({ id }) => id),
      ['forever', 'lately', 'to-come'],
    )
  })
})
