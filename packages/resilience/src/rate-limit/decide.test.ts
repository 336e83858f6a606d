import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { fullBucket, giveBack, recordStart, redeem, reserve, type Bucket, type RateAnswer } from './decide.ts'
import { withRateLimitDefaults, type RateLimitPolicy } from './policy.ts'

const patient = { maxQueued: 1_000_000, maxWaitMs: 315_576_000_000 }
const ask = (policy: RateLimitPolicy, bucket: Bucket, now: number, deadlineAt = Infinity): RateAnswer =>
  reserve(policy, bucket, { now, deadlineAt })
const instantOf = (answer: RateAnswer): number => (answer.kind === 'yes' ? answer.at : assert.fail('refused'))

describe('a rate limit', () => {
  it('lets a burst start at once, and tells each that follows its instant', () => {
    const policy = withRateLimitDefaults({ perSecond: 10, burst: 2 })
    const bucket = fullBucket(policy, 0)
    assert.deepEqual(
      Array.from({ length: 5 }, () => instantOf(ask(policy, bucket, 0))),
      [0, 0, 100, 200, 300],
    )
  })

  it('refuses whoever would wait too long, would start after the deadline, or finds the queue full', () => {
    const policy = withRateLimitDefaults({ perSecond: 1, burst: 1, maxQueued: 2, maxWaitMs: 2_500 })
    const bucket = fullBucket(policy, 0)
    assert.equal(instantOf(ask(policy, bucket, 0)), 0)
    assert.deepEqual(ask(policy, bucket, 0, 999), { kind: 'no', reason: 'rate-limited', until: 1_000 })
    assert.equal(instantOf(ask(policy, bucket, 0, 1_000)), 1_000)
    assert.equal(instantOf(ask(policy, bucket, 0)), 2_000)
    assert.deepEqual(ask(policy, bucket, 400), { kind: 'no', reason: 'rate-limited', until: 3_000 })
    assert.deepEqual(ask(policy, bucket, 500), { kind: 'no', reason: 'rate-limited', until: 3_000 }, 'queue is full')
    assert.deepEqual(ask(policy, bucket, 1_000), { kind: 'yes', at: 3_000 }, 'one has left the queue')
  })

  it('promises nothing to those it refuses', () => {
    const policy = withRateLimitDefaults({ perSecond: 1, burst: 1, maxQueued: 0 })
    const bucket = fullBucket(policy, 0)
    ask(policy, bucket, 0)
    for (let n = 0; n < 100; n++) assert.equal(ask(policy, bucket, 500).kind, 'no')
    assert.deepEqual(ask(policy, bucket, 1_000), { kind: 'yes', at: 1_000 })
  })

  it('has a token for whoever comes exactly when it was told to', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1_000, noNaN: true }), fc.nat(100_000), (perSecond, now) => {
        const policy = withRateLimitDefaults({ perSecond, burst: 1, maxQueued: 0 })
        const bucket = fullBucket(policy, now)
        ask(policy, bucket, now)
        const refused = ask(policy, bucket, now)
        assert.ok(refused.kind === 'no' && refused.until > now)
        assert.deepEqual(ask(policy, bucket, refused.until), { kind: 'yes', at: refused.until })
      }),
    )
  })

  it('fills to the burst and no further, however long the silence', () => {
    const policy = withRateLimitDefaults({ perSecond: 1_000, burst: 3, maxQueued: 0 })
    const bucket = fullBucket(policy, 0)
    for (const now of [0, 1e12]) {
      const started = Array.from({ length: 5 }, () => ask(policy, bucket, now).kind).filter(kind => kind === 'yes')
      assert.equal(started.length, 3)
    }
  })

  it('gains nothing by a clock that steps back and forth, and keeps what it had', () => {
    const policy = withRateLimitDefaults({ perSecond: 1, burst: 2, maxQueued: 0 })
    const bucket = fullBucket(policy, 100_000)
    assert.equal(ask(policy, bucket, 100_000).kind, 'yes')
    assert.deepEqual(ask(policy, bucket, 0), { kind: 'yes', at: 0 })
    assert.equal(ask(policy, bucket, 50_000).kind, 'no')
    assert.equal(ask(policy, bucket, 100_000).kind, 'no')
    assert.equal(ask(policy, bucket, 101_000).kind, 'yes')
  })
})

describe('a promise given back', () => {
  const policy = withRateLimitDefaults({ perSecond: 1, burst: 1, ...patient })

  it('goes to whoever comes next; nobody who was told an instant is told another', () => {
    const bucket = fullBucket(policy, 0)
    const [, first, second] = [0, 0, 0].map(now => instantOf(ask(policy, bucket, now)))
    giveBack(bucket, first!, 300)
    assert.deepEqual([first, second], [1_000, 2_000])
    assert.deepEqual(ask(policy, bucket, 400), { kind: 'yes', at: 1_000 })
    assert.deepEqual(ask(policy, bucket, 400), { kind: 'yes', at: 3_000 })
  })

  it('is taken up in order, the earliest first', () => {
    const bucket = fullBucket(policy, 0)
    for (let n = 0; n < 5; n++) ask(policy, bucket, 0)
    for (const at of [3_000, 1_000, 4_000, 2_000]) giveBack(bucket, at, 0)
    assert.deepEqual(
      Array.from({ length: 5 }, () => instantOf(ask(policy, bucket, 0))),
      [1_000, 2_000, 3_000, 4_000, 5_000],
    )
  })

  it('makes room in the queue', () => {
    const small = { ...policy, maxQueued: 1 }
    const bucket = fullBucket(small, 0)
    const [, waiting] = [0, 0].map(now => instantOf(ask(small, bucket, now)))
    assert.equal(ask(small, bucket, 0).kind, 'no')
    giveBack(bucket, waiting!, 0)
    assert.equal(ask(small, bucket, 0).kind, 'yes')
    assert.equal(ask(small, bucket, 0).kind, 'no')
  })

  it('can be taken up after its instant for as long as a full bucket would have kept it', () => {
    const three = { ...policy, burst: 3 }
    for (const [now, atOnce] of [
      [3_000, 3],
      [3_001, 2],
    ] as const) {
      const bucket = fullBucket(three, 0)
      for (let n = 0; n < 3; n++) ask(three, bucket, 0)
      giveBack(bucket, instantOf(ask(three, bucket, 0)), 0)
      const instants = Array.from({ length: 4 }, () => instantOf(ask(three, bucket, now)))
      assert.equal(instants.filter(at => at === now).length, atOnce, `at ${now}`)
    }
  })

  it('after its instant is spent', () => {
    const bucket = fullBucket(policy, 0)
    giveBack(bucket, instantOf(ask(policy, bucket, 0)), 0)
    assert.equal(instantOf(ask(policy, bucket, 0)), 1_000)
    giveBack(bucket, 1_000, 1_000)
    assert.equal(instantOf(ask(policy, bucket, 1_000)), 2_000)
  })

  it('leaves less than one token behind that nobody can use', () => {
    fc.assert(
      fc.property(
        fc.record({
          burst: fc.integer({ min: 1, max: 10 }),
          promises: fc.integer({ min: 1, max: 30 }),
          now: fc.nat(60_000),
          asks: fc.integer({ min: 1, max: 30 }),
        }),
        ({ burst, promises, now, asks }) => {
          const present = { ...policy, burst }
          const [untouched, used] = [fullBucket(present, 0), fullBucket(present, 0)]
          for (const bucket of [untouched, used]) for (let n = 0; n < burst; n++) ask(present, bucket, 0)
          const told = Array.from({ length: promises }, () => instantOf(ask(present, used, 0)))
          for (const at of told) giveBack(used, at, 0)
          for (let n = 0; n < asks; n++) {
            const [want, is] = [untouched, used].map(bucket => instantOf(ask(present, bucket, now))) as [number, number]
            assert.ok(is >= want - 1e-6 && is < want + 1_000, `${is}, not ${want}`)
          }
        },
      ),
    )
  })
})

/** Somebody comes, and perhaps one of those who wait goes. */
type Happening = { readonly afterMs: number; readonly leaves: number | null }

const anyPolicy = fc.record({
  perSecond: fc.constantFrom(0.5, 1, 3, 10, 1_000, 12_345.678),
  burst: fc.integer({ min: 1, max: 20 }),
  maxQueued: fc.constantFrom(0, 1, 5, 1_000),
  maxWaitMs: fc.constantFrom(1, 100, 1_000, 3_600_000),
})

const anyHistory: fc.Arbitrary<Happening[]> = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constantFrom(0, 0, 0, 1, 333, 2_000), fc.double({ min: 0, max: 50, noNaN: true })),
    leaves: fc.option(fc.nat(1_000)),
  }),
  { maxLength: 200 },
)

/** The third comes when the second is to start in a ten-millionth of a millisecond. */
const HARDLY_WAITING: [RateLimitPolicy, Happening[]] = [
  { perSecond: 10, burst: 1, maxQueued: 1, maxWaitMs: 1_000 },
  [0, 49.99999990000002, 49.99999999999997].map(afterMs => ({ afterMs, leaves: null })),
]

/** The instants at which attempts start, in order, and those of them that were waited for. */
function play(policy: RateLimitPolicy, history: readonly Happening[]): { starts: number[]; waited: Set<number> } {
  const bucket = fullBucket(policy, 0)
  const starts: number[] = []
  const waited = new Set<number>()
  let now = 0
  for (const { afterMs, leaves } of history) {
    now += afterMs
    const waiting = starts.filter(at => at > now)
    if (leaves !== null && waiting.length > 0) {
      const at = waiting[leaves % waiting.length]!
      starts.splice(starts.indexOf(at), 1)
      giveBack(bucket, at, now)
    }
    const answer = reserve(policy, bucket, { now, deadlineAt: Infinity })
    if (answer.kind === 'no') assert.ok(answer.until > now)
    else {
      assert.ok(answer.at >= now && answer.at <= now + policy.maxWaitMs)
      if (answer.at > now) waited.add(answer.at)
      starts.push(answer.at)
    }
    // Tokens are counted with a tolerance: whoever lacks less than that of one waits no longer.
    const noTimeMs = (2e-9 / policy.perSecond) * 1_000
    assert.ok(starts.filter(at => at > now + noTimeMs).length <= policy.maxQueued)
  }
  return { starts: starts.toSorted((a, b) => a - b), waited }
}

/** Nobody can start for a while; then some come, some wake up, and perhaps one goes. */
interface Turn {
  readonly stallMs: number
  readonly come: number
  readonly newcomersFirst: boolean
  readonly leaves: boolean
}

/** When attempts really start, if they are asked only after each stall, and at their instants once the stalls are over. */
function playStalls(policy: RateLimitPolicy, turns: readonly Turn[]): number[] {
  const bucket = fullBucket(policy, 0)
  const starts: number[] = []
  let waiting: number[] = []
  let now = 0
  const obey = (answer: RateAnswer): void => {
    if (instantOf(answer) > now) return void waiting.push(instantOf(answer))
    recordStart(policy, bucket, now)
    starts.push(now)
  }
  const wake = (): void => {
    const due = waiting.filter(at => at <= now)
    waiting = waiting.filter(at => at > now)
    for (const _ of due) obey(redeem(policy, bucket, { now, deadlineAt: Infinity }))
  }
  for (const { stallMs, come, newcomersFirst, leaves } of turns) {
    now += stallMs
    if (!newcomersFirst) wake()
    for (let n = 0; n < come; n++) obey(ask(policy, bucket, now))
    if (newcomersFirst) wake()
    if (leaves && waiting.length > 0) giveBack(bucket, waiting.shift()!, now)
  }
  for (let left = 20 * waiting.length; waiting.length > 0; left--) {
    assert.ok(left > 0, 'somebody waits for ever')
    now = Math.min(...waiting)
    wake()
  }
  return starts
}

describe('a rate limit, whatever happens', () => {
  it('lets no more start in any t seconds than burst + perSecond × t', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        const { starts } = play(policy, history)
        for (const [first, from] of starts.entries())
          for (const [last, to] of starts.entries())
            if (last >= first)
              assert.ok(last - first + 1 <= policy.burst + ((to - from) / 1_000) * policy.perSecond + 1e-6)
      }),
      { numRuns: 300 },
    )
  })

  it('lets no more start also if those who wait come late, and all of them in the end', () => {
    const anyStall = fc.oneof(fc.constantFrom(0, 0, 1, 1_000, 5_000), fc.double({ min: 0, max: 300, noNaN: true }))
    const anyTurn = fc.record({
      stallMs: anyStall,
      come: fc.nat(5),
      newcomersFirst: fc.boolean(),
      leaves: fc.boolean(),
    })
    fc.assert(
      fc.property(anyPolicy, fc.array(anyTurn, { maxLength: 60 }), (some, turns) => {
        const policy = { ...some, ...patient }
        const starts = playStalls(policy, turns)
        for (const [first, from] of starts.entries())
          for (const [last, to] of starts.entries())
            if (last >= first)
              assert.ok(last - first + 1 <= policy.burst + ((to - from) / 1_000) * policy.perSecond + 1e-6)
      }),
      { numRuns: 300 },
    )
  })

  it('makes nobody wait who need not: before each wait some stretch of time is full', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        const { starts, waited } = play(
          policy,
          history.map(({ afterMs }) => ({ afterMs, leaves: null })),
        )
        for (const [last, to] of starts.entries())
          if (waited.has(to))
            assert.ok(
              starts.some(
                (from, first) => last - first + 1 >= policy.burst + ((to - from) / 1_000) * policy.perSecond - 1e-6,
              ),
            )
      }),
      { numRuns: 200, examples: [HARDLY_WAITING] },
    )
  })
})
