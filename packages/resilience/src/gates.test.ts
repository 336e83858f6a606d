/** All gates before the same operations, in any order of events: what is promised of each must hold of all together. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createBulkhead } from './bulkhead/run.ts'
import { permanent } from './classify/marks.ts'
import { RefusedError } from './errors.ts'
import { endOf } from './held.test-kit.ts'
import { createKillSwitch } from './kill-switch/run.ts'
import { createLimiter } from './limiter/run.ts'
import { createRateLimit } from './rate-limit/run.ts'
import type { Gate } from './retry/companion.ts'
import { historyOf } from './retry/history.ts'
import type { Attempt } from './retry/options.ts'
import { retry } from './retry/run.ts'
import { reset } from './retry/scripted.test-kit.ts'
import { virtualClock, type VirtualClock } from './testing/index.ts'

interface Call {
  readonly afterMs: number
  /** How each attempt goes; `deaf` goes on after its time-out, `polite` ends with its signal. */
  readonly attempts: readonly { readonly as: 'well' | 'lost' | 'wrong' | 'deaf' | 'polite'; readonly ms: number }[]
  readonly abortAfterMs: number | null
  readonly totalBudgetMs: number
  /** A gate behind all others says no. */
  readonly isRefused: boolean
}

const anyMs = fc.constantFrom(0, 0, 1, 5, 30, 100, 250)
const anyCall: fc.Arbitrary<Call> = fc.record({
  afterMs: anyMs,
  attempts: fc.array(fc.record({ as: fc.constantFrom('well', 'well', 'lost', 'wrong', 'deaf', 'polite'), ms: anyMs }), {
    minLength: 1,
    maxLength: 4,
  }),
  abortAfterMs: fc.option(anyMs),
  totalBudgetMs: fc.constantFrom(60, 150, 1_000, 10_000),
  isRefused: fc.boolean(),
})
const anyCalls = fc.array(anyCall, { maxLength: 30 })
const anyBulkhead = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  maxQueued: fc.integer({ min: 1, max: 8 }),
  maxWaitMs: fc.constantFrom(20, 200, 5_000),
})

const ATTEMPT_TIMEOUT_MS = 50
/** Deaf work may take five times as long as its time-out. */
const LONGEST_WORK_MS = 250

async function work(clock: VirtualClock, { attempts }: Call, { attempt, signal }: Attempt): Promise<string> {
  const { as, ms } = attempts[(attempt - 1) % attempts.length]!
  await clock.sleep(as === 'deaf' ? LONGEST_WORK_MS : ms, as === 'polite' ? signal : undefined)
  if (as === 'lost') throw reset()
  if (as === 'wrong') throw permanent(new Error('wrong'))
  return 'done'
}

/** Every call in its turn, until all have ended and nothing is left on the clock. */
async function play(calls: readonly Call[], gates: readonly Gate[], clock: VirtualClock, watch: Watch): Promise<void> {
  const ends: Promise<unknown>[] = []
  let at = 0
  for (const [place, call] of calls.entries()) {
    at += call.afterMs
    ends.push(clock.sleep(at).then(() => one(place, call)))
  }
  await clock.drain()
  for (const end of await Promise.all(ends))
    assert.ok(end === 'done' || historyOf(end) !== undefined, `${String(end)} was neither a success nor given up`)
  assert.equal(clock.pending, 0)

  async function one(place: number, call: Call): Promise<unknown> {
    const controller = new AbortController()
    if (call.abortAfterMs !== null)
      void clock.sleep(call.abortAfterMs).then(() => controller.abort(new Error('enough')))
    const last: Gate = {
      accompany: () => ({ enter: () => (call.isRefused ? new RefusedError('throttled', 'shut') : undefined) }),
    }
    const policy = { ...POLICY, totalBudgetMs: call.totalBudgetMs }
    const { signal } = controller
    const ports = { clock, random: () => 0.5 }
    const counted = async (attempt: Attempt): Promise<string> => {
      watch.started(place)
      try {
        return await work(clock, call, attempt)
      } finally {
        watch.ended()
      }
    }
    return endOf(retry(counted, policy, { ports, signal, budget: false, gates: [...gates, last] }))
  }
}

const POLICY = { maxAttempts: 3, initialDelayMs: 10, jitterType: 'NONE', attemptTimeoutMs: ATTEMPT_TIMEOUT_MS } as const

interface Watch {
  readonly started: (place: number) => void
  readonly ended: () => void
}

describe('a bulkhead, whatever comes and goes', () => {
  it('never has more work under way than its limit, nobody waiting beside a free slot, and all slots back', async () => {
    await fc.assert(
      fc.asyncProperty(anyCalls, anyBulkhead, async (calls, policy) => {
        const clock = virtualClock()
        const bulkhead = createBulkhead(policy)
        let underWay = 0
        const look = (): void => {
          assert.ok(underWay <= policy.limit && bulkhead.active <= policy.limit, `${underWay} of ${policy.limit}`)
          assert.ok(bulkhead.active >= underWay, 'work without a slot')
          assert.ok(bulkhead.queued === 0 || bulkhead.active === policy.limit, 'somebody waits beside a free slot')
          assert.ok(bulkhead.queued <= policy.maxQueued && bulkhead.abandoned <= bulkhead.active)
        }
        await play(calls, [bulkhead], clock, {
          started: () => (underWay++, look()),
          ended: () => (look(), underWay--),
        })
        assert.deepEqual([bulkhead.active, bulkhead.queued, bulkhead.abandoned], [0, 0, 0])
      }),
      { numRuns: 200 },
    )
  })

  it('lets operations that make one attempt begin in the order in which they came', async () => {
    const single = anyCall.map(call => ({ ...call, attempts: [{ as: 'well' as const, ms: call.attempts[0]!.ms }] }))
    await fc.assert(
      fc.asyncProperty(fc.array(single, { maxLength: 30 }), anyBulkhead, async (calls, policy) => {
        const clock = virtualClock()
        const order: number[] = []
        const once = calls.map(call => ({ ...call, totalBudgetMs: ATTEMPT_TIMEOUT_MS }))
        await play(once, [createBulkhead(policy)], clock, { started: place => order.push(place), ended: () => {} })
        const firsts = [...new Set(order)]
        assert.deepEqual(
          firsts,
          firsts.toSorted((a, b) => a - b),
        )
      }),
      { numRuns: 100 },
    )
  })
})

describe('all gates together, whatever comes and goes', () => {
  it('keep their limits, and have nothing left when all is over', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyCalls,
        anyBulkhead,
        fc.record({ perSecond: fc.constantFrom(5, 20, 500), burst: fc.integer({ min: 1, max: 4 }) }),
        fc.option(anyMs),
        async (calls, policy, rate, killAfterMs) => {
          const clock = virtualClock()
          const bulkhead = createBulkhead(policy)
          const limiter = createLimiter({ kind: 'aimd', initialLimit: 3, maxLimit: 4 }, { random: () => 0.5 })
          const rateLimit = createRateLimit({ ...rate, maxQueued: 5 }, { clock })
          const killSwitch = createKillSwitch({ clock })
          if (killAfterMs !== null)
            void clock
              .sleep(killAfterMs)
              .then(() => killSwitch.set({ level: 'fail-fast', reason: 'enough', forMs: 50 }))
          const starts: number[] = []
          let underWay = 0
          await play(calls, [killSwitch, bulkhead, limiter, rateLimit], clock, {
            started: () => {
              starts.push(clock.monotonic())
              assert.ok(++underWay <= Math.min(policy.limit, 4), `${underWay} are under way`)
            },
            ended: () => void underWay--,
          })
          assert.deepEqual([bulkhead.active, bulkhead.queued, bulkhead.abandoned, limiter.inFlight], [0, 0, 0, 0])
          for (const [first, from] of starts.entries())
            for (const [last, to] of starts.entries())
              if (last >= first)
                assert.ok(last - first + 1 <= rate.burst + ((to - from) / 1_000) * rate.perSecond + 1e-6, 'too fast')
        },
      ),
      { numRuns: 150 },
    )
  })
})
