import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { askedWaitOf } from './rate-limit-headers.ts'
import { parseHttpDate, retryAfterOf } from './retry-after.ts'

/** Until the end of the century: two digits of a year mean nothing beyond. */
const anyInstant = fc.integer({ min: 0, max: 2_000_000_000 }).map(seconds => seconds * 1_000)
const anyNow = fc.integer({ min: 0, max: 4_000_000_000_000 })

const FIELDS = [
  'retry-after',
  'retry-after-ms',
  'x-ms-retry-after-ms',
  'x-amz-retry-after',
  'ratelimit',
  'ratelimit-reset',
  'x-ratelimit-reset-after',
  'x-ratelimit-reset',
  'date',
] as const

const likelyValue = fc.oneof(
  fc.string(),
  fc.integer({ min: -1e15, max: 1e15 }).map(String),
  fc.double().map(String),
  fc.bigInt({ min: 0n }).map(String),
  anyInstant.map(at => new Date(at).toUTCString()),
  fc.constantFrom(
    '"default";r=0;t=30',
    '"a";r=0;t=-1',
    '"a";r=0;t=1e9',
    'r=0;t=',
    ',',
    '.',
    '0',
    '-0',
    '1.',
    '.1',
    '1,,2',
    '١٢',
  ),
)

/** Values as they are found in headers: not those whose own `toString` is no function. */
const anything = fc.anything({ key: fc.string().map(key => `_${key}`) })

const anyHeaders = fc.dictionary(fc.constantFrom(...FIELDS), fc.oneof(likelyValue, fc.array(likelyValue), anything))

describe('a wait that headers name', () => {
  it('is a finite number and never negative, or there is none, whatever the headers', () => {
    fc.assert(
      fc.property(anyHeaders, anyNow, (headers, now) => {
        for (const ms of [retryAfterOf(headers, now), askedWaitOf(headers, now)])
          assert.ok(ms === undefined || (Number.isFinite(ms) && ms >= 0), `${ms}`)
      }),
      { numRuns: 3_000 },
    )
  })

  it('is as many seconds as were asked, to the millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), anyNow, (seconds, now) => {
        assert.equal(retryAfterOf({ 'retry-after': String(seconds) }, now), seconds * 1_000)
      }),
    )
  })

  it('is never earlier than asked: what is less than a millisecond is rounded up', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 999_999 }), (whole, micros) => {
        const askedMs = whole * 1_000 + Math.ceil(micros / 1_000)
        const ms = retryAfterOf({ 'retry-after': `${whole}.${String(micros).padStart(6, '0')}` }, 0)!
        // The nearest double may lie a little above: a millisecond later is early enough.
        assert.ok(ms >= askedMs && ms <= askedMs + 1, `${ms} for ${askedMs}`)
      }),
    )
  })

  it('is as long as can be when it has more digits than a number holds', () => {
    for (const digits of [20, 200, 400, 10_000])
      assert.equal(retryAfterOf({ 'retry-after': '9'.repeat(digits) }, 0), 1e15, String(digits))
  })

  it('is the longest of several', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e9 }), { minLength: 1, maxLength: 5 }), waits => {
        assert.equal(retryAfterOf({ 'retry-after': waits.join(', ') }, 0), Math.max(...waits) * 1_000)
        assert.equal(retryAfterOf({ 'retry-after': waits.map(String) }, 0), Math.max(...waits) * 1_000)
      }),
    )
  })

  it('ends exactly at the date that was named, or is none when that has passed', () => {
    fc.assert(
      fc.property(anyInstant, anyNow, (at, now) => {
        for (const date of httpDates(at))
          assert.equal(retryAfterOf({ 'retry-after': date }, now), Math.max(0, at - now), date)
      }),
    )
  })

  it('does not depend on our clock where the server sent its own', () => {
    fc.assert(
      fc.property(anyInstant, fc.integer({ min: 0, max: 1e6 }), anyNow, anyNow, (sentAt, seconds, now, later) => {
        const headers = {
          date: new Date(sentAt).toUTCString(),
          'retry-after': new Date(sentAt + seconds * 1_000).toUTCString(),
        }
        assert.equal(retryAfterOf(headers, now), seconds * 1_000)
        assert.equal(retryAfterOf(headers, later), seconds * 1_000)
      }),
    )
  })

  it('is the same however the name of the header is spelled', () => {
    const spellings = fc.array(fc.boolean(), { minLength: 11, maxLength: 11 })
    fc.assert(
      fc.property(spellings, uppers => {
        const name = Array.from('retry-after', (letter, index) => (uppers[index] ? letter.toUpperCase() : letter)).join(
          '',
        )
        assert.equal(retryAfterOf({ [name]: '7' }, 0), 7_000)
        assert.equal(retryAfterOf(new Headers({ [name]: '7' }), 0), 7_000)
      }),
    )
  })

  it('is read from a Map-like source by its lower-case name', () => {
    assert.equal(
      retryAfterOf(new Map([['retry-after', '7']]) as { get: (name: string) => string | undefined }, 0),
      7_000,
    )
  })

  it('is not looked for at length: a value of a million characters is read as quickly as any', () => {
    for (const value of [
      '9'.repeat(1e6),
      ' '.repeat(1e6) + 'x',
      ','.repeat(1e5),
      'Mon, '.repeat(2e5),
      '"a";'.repeat(2e5),
    ])
      for (const name of FIELDS) assert.equal(askedWaitOf({ [name]: value }, 0), undefined)
  })
})

describe('an HTTP date', () => {
  it('is read in all three forms', () => {
    for (const date of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
      assert.equal(parseHttpDate(date), 784_111_777_000)
  })

  it('is nothing else', () => {
    for (const text of [
      '',
      'now',
      '0',
      '1994',
      '1994-11-06',
      '06 Nov 1994',
      'Sun, 06 Nov 1994 08:49:37',
      'Sun, 06 Nov 1994 08:49:37 +0000',
    ])
      assert.equal(parseHttpDate(text), undefined, text)
  })

  it('survives any text', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const at = parseHttpDate(text)
        assert.ok(at === undefined || (Number.isFinite(at) && at >= 0))
      }),
    )
  })
})

/** RFC 9110 §5.6.7. */
function httpDates(at: number): readonly string[] {
  const imf = new Date(at).toUTCString()
  const [, weekday, day, month, year, time] = /^(\w+), (\d+) (\w+) (\d+) (.+) GMT$/.exec(imf) as unknown as string[]
  const asctime = `${weekday} ${month} ${String(Number(day)).padStart(2, ' ')} ${time} ${year}`
  // Two digits are read as a year from 1950 on, whatever century it is by then.
  const rfc850 = at < 2_524_608_000_000 ? [`${weekday}day, ${day}-${month}-${year!.slice(2)} ${time} GMT`] : []
  return [imf, asctime, ...rfc850]
}
