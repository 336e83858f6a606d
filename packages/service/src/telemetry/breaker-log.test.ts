import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { BreakerLog } from './breaker-log.ts'
import type { BreakerChanged } from './events.ts'

const LANE = { tenant: 'acme', destination: 'https://api.example' }
const OPENED: BreakerChanged = { ...LANE, phase: 'open', until: 90_000, errorCode: 'http-503' }
const CLOSED: BreakerChanged = { ...LANE, phase: 'closed' }

function setting() {
  const clock = virtualClock()
  const stop = new AbortController()
  const lines: [level: string, message: string, fields: object][] = []
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, message, fields])
  const log = { info: at('info'), warn: at('warn'), error: at('error') }
  const breakers = new BreakerLog({ log, clock, signal: stop.signal })
  return { clock, stop, lines, breakers }
}

describe('the log of breakers', () => {
  it('warns of one that opened, with its destination, why and until when, and says when it is closed again', () => {
    const { breakers, lines } = setting()
    breakers.tell(OPENED)
    breakers.tell(CLOSED)
    const { phase: _, ...fields } = OPENED
    assert.deepEqual(lines, [
      ['warn', 'breaker opened', fields],
      ['info', 'breaker closed', LANE],
    ])
  })

  it('says of a lane that flaps what it did first, and after a minute how it stands and how much was left out', async () => {
    const { breakers, lines, clock } = setting()
    for (let times = 0; times < 10; times++) for (const change of [CLOSED, OPENED]) breakers.tell(change)
    assert.equal(lines.length, 4)
    await clock.advance(60_000)
    assert.deepEqual([lines.length, lines[4]?.[1]], [5, 'breaker opened'])
    assert.equal((lines[4]![2] as { repeats?: number }).repeats, 15)
    breakers.tell(CLOSED)
    assert.deepEqual(lines[5], ['info', 'breaker closed', LANE])
  })

  it('counts the lanes that a great outage takes with it, beyond the first hundred', async () => {
    const { breakers, lines, clock } = setting()
    for (let n = 0; n < 1_000; n++) breakers.tell({ ...OPENED, destination: `https://api-${n}.example` })
    assert.equal(lines.length, 100)
    await clock.advance(60_000)
    assert.deepEqual(lines[100]?.[2], { code: 'breakers-more', count: 900 })
    await clock.advance(60_000)
    assert.deepEqual([lines.length, clock.pending], [101, 0])
  })

  it('holds nothing back when the service stops', async () => {
    const { breakers, lines, clock, stop } = setting()
    for (let times = 0; times < 5; times++) breakers.tell(OPENED)
    stop.abort()
    await clock.advance(0)
    assert.deepEqual([lines.length, clock.pending], [5, 0])
  })
})
