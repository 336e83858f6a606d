import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { causeText, fingerprintOf, type Death } from './cause.ts'

const DEATH: Death = {
  tenant: 'acme',
  destination: 'https://api.example',
  reason: 'attempts',
  lastAttempt: { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'busy' },
}

describe('a fingerprint', () => {
  it('leaves out what differs from one task to the next', () => {
    const cases = {
      'order 8812 not found': 'order … not found',
      'connect ECONNREFUSED 127.0.0.1:8080': 'connect ECONNREFUSED ….….….…:…',
      'no such id 01890a5d-ac96-774b-bcce-b302099a8057': 'no such id …',
      'at 0x7ffdeadbeef in deadbeef01 and DEADBEEF99': 'at … in … and …',
      'user "Ann" said `hi` to \'Bob\'': 'user … said … to …',
    }
    for (const [message, fingerprint] of Object.entries(cases)) assert.equal(fingerprintOf(message), fingerprint)
  })

  it('keeps words: those of a to f, and those with an apostrophe', () => {
    for (const message of ["can't reach the server's door", 'a defaced facade', ''])
      assert.equal(fingerprintOf(message), message)
  })

  it('is as short for a page as for a sentence, and never slow', () => {
    const pages = ['<html>'.repeat(100_000), '"'.repeat(500_000), "'a".repeat(500_000), '0'.repeat(500_000)]
    for (const page of pages) assert.ok(fingerprintOf(page).length <= 300)
  })

  it('is the same for messages that differ in numbers and names only', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.uuid(), fc.uuid(), (number, other, id, otherId) => {
        const message = (n: number, uuid: string) => `task ${uuid} failed after ${n} ms: "${uuid} ${n}"`
        assert.equal(fingerprintOf(message(number, id)), fingerprintOf(message(other, otherId)))
      }),
    )
  })
})

describe('a cause', () => {
  it('is another for each tenant, destination, reason, gate, status, code and message', () => {
    const { lastAttempt } = DEATH
    const others: Death[] = [
      { ...DEATH, tenant: 'other' },
      { ...DEATH, destination: 'https://other.example' },
      { ...DEATH, reason: 'deadline' },
      { ...DEATH, reason: 'deadline', held: { by: 'credit' } },
      { ...DEATH, reason: 'deadline', held: { by: 'paused' } },
      { ...DEATH, lastAttempt: { ...lastAttempt!, responseStatus: 502 } },
      { ...DEATH, lastAttempt: { ...lastAttempt!, errorCode: 'reset' } },
      { ...DEATH, lastAttempt: { ...lastAttempt!, errorMessage: 'gone' } },
      { ...DEATH, lastAttempt: undefined },
    ]
    assert.equal(new Set([DEATH, ...others].map(causeText)).size, 10)
  })

  it('is not told by the numbers in its message, nor by the kind of failure', () => {
    const dead = (errorMessage: string): string =>
      causeText({ ...DEATH, lastAttempt: { outcome: 'ambiguous', errorMessage } })
    assert.equal(dead('timed out after 1200 ms'), dead('timed out after 7 ms'))
  })

  it('cannot be mistaken for another by text that runs over from one part to the next', () => {
    assert.notEqual(
      causeText({ ...DEATH, tenant: 'a', destination: 'b c' }),
      causeText({ ...DEATH, tenant: 'a b', destination: 'c' }),
    )
  })
})
