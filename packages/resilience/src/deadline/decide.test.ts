import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { askedTimeoutMs, grpcTimeoutHeader, timeoutHeader } from './decide.ts'

const anyTimeMs = fc.double({ min: 0, max: 1e13, noNaN: true })

describe('a time that is sent', () => {
  it('is read as it was written, and never as less', () => {
    fc.assert(
      fc.property(anyTimeMs, ms => {
        const read = askedTimeoutMs({ 'x-timeout-ms': timeoutHeader(ms) }, 0)!
        assert.ok(read >= Math.min(ms, 1e12) && read <= Math.max(1, ms + 1), `${ms} ${read}`)
      }),
    )
  })

  it('is a grpc-timeout of at most eight digits, rounded up by less than a unit', () => {
    fc.assert(
      fc.property(anyTimeMs, ms => {
        const header = grpcTimeoutHeader(ms)
        assert.match(header, /^[1-9]\d{0,7}[mSMH]$/)
        const read = askedTimeoutMs({ 'grpc-timeout': header }, 0)!
        assert.ok(read >= ms && read <= Math.max(1, ms) * 1.001 + 1, `${ms} ${header}`)
      }),
    )
  })

  it('is as long as can be said when it is endless', () => {
    assert.equal(grpcTimeoutHeader(Infinity), '99999999H')
  })
})

describe('a time that is read', () => {
  it('is never negative and always a number, whatever strangers send', () => {
    const anyValue = fc.oneof(fc.string(), fc.stringMatching(/^[\d.,+-eHMSmun ]{0,20}$/))
    fc.assert(
      fc.property(anyValue, anyValue, anyValue, (timeout, grpc, instant) => {
        const headers = { 'x-timeout-ms': timeout, 'grpc-timeout': grpc, 'x-deadline-unix-ms': instant }
        const ms = askedTimeoutMs(headers, 1e12)
        assert.ok(ms === undefined || (ms >= 0 && ms < Infinity), `${ms}`)
      }),
    )
  })
})
