import type { Destination, Replay } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { RemoteCall } from '../remote/remote-command.ts'
import { heldBack } from './held-back.ts'

const NOW = 1_767_300_000_000
const ORIGIN = 'https://api.example'
const replay = { status: 'RUNNING', destinations: [ORIGIN] } as unknown as Replay

async function saidOf(gates: Pick<Destination, 'hold' | 'kindHolds'>): Promise<string | undefined> {
  const call = {
    client: { destinations: { get: () => Promise.resolve({ destination: ORIGIN, ...gates }) } },
    clock: { now: () => NOW },
    typed: (...words: string[]) => words.join(' '),
  } as unknown as RemoteCall
  return (await heldBack(call, replay))?.say
}

describe('a replay', () => {
  const open = { reason: 'breaker-open', since: NOW - 180_000, everyMs: 9_000, until: NOW + 4_000 } as const

  it('is held back where first attempts are, as a replayed task begins with one', async () => {
    assert.equal(
      await saidOf({ kindHolds: { first: open } }),
      `${ORIGIN} is held by breaker-open, only failures for 3 min, a probe every 9 s, the next in 4 s.`,
    )
    assert.equal(await saidOf({ kindHolds: { retry: open, late: open } }), undefined)
  })

  it('is not held back by a gate that opens within moments', async () => {
    assert.equal(await saidOf({ kindHolds: { first: { reason: 'credit', everyMs: 1_000, until: NOW } } }), undefined)
    assert.equal(await saidOf({ hold: { reason: 'concurrency' } }), undefined)
  })
})
