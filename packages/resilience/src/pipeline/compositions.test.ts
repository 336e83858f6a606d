/** Any pipeline, any calls: what is promised of every layer must hold of all of them together. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Breaker } from '../breaker/run.ts'
import { permanent } from '../classify/marks.ts'
import type { Attempt } from '../retry/options.ts'
import { reset } from '../retry/scripted.test-kit.ts'
import { expectNoLeaks, seededRandom, virtualClock, type VirtualClock } from '../testing/index.ts'
import type { PipelineDefinition } from './definition.ts'
import { pipeline, type Pipeline } from './run.ts'

const ATTEMPT_TIMEOUT_MS = 60
/** Deaf work goes on for so long, whatever its signal says. */
const DEAF_MS = 400

interface Call {
  readonly afterMs: number
  /** How each call of the operation goes, copies included, in turn. */
  readonly steps: readonly { readonly as: 'well' | 'lost' | 'wrong' | 'refused' | 'deaf'; readonly ms: number }[]
  readonly abortAfterMs: number | null
  readonly totalBudgetMs: number
}

const anyMs = fc.constantFrom(0, 1, 5, 25, 80)
const anyCall: fc.Arbitrary<Call> = fc.record({
  afterMs: anyMs,
  steps: fc.array(
    fc.record({ as: fc.constantFrom('well', 'well', 'lost', 'lost', 'wrong', 'refused', 'deaf'), ms: anyMs }),
    {
      minLength: 1,
      maxLength: 4,
    },
  ),
  abortAfterMs: fc.option(anyMs, { freq: 3 }),
  totalBudgetMs: fc.constantFrom(100, 300, 5_000),
})

const anyLayers = fc.record(
  {
    breaker: fc.record({
      minCalls: fc.constantFrom(2, 5),
      openMs: fc.constantFrom(20, 200),
      probes: fc.constantFrom(1, 2),
    }),
    bulkhead: fc.record({ limit: fc.integer({ min: 1, max: 3 }), maxQueued: fc.integer({ min: 1, max: 4 }) }),
    rateLimit: fc.record({ perSecond: fc.constantFrom(20, 1_000), burst: fc.constantFrom(1, 5) }),
    limiter: fc.record({ kind: fc.constantFrom('aimd' as const, 'gradient2' as const, 'vegas' as const) }),
    throttle: fc.constant({}),
    hedge: fc.record({
      delayMs: fc.constantFrom(1, 10),
      maxExtraCalls: fc.constantFrom(1, 3),
      maxExtraLoad: fc.constant(1),
    }),
    refresh: fc.constant(() => {}),
    adaptiveTimeout: fc.constant(true as const),
    budget: fc.constantFrom(
      { kind: 'ratio' as const, ratio: 0.5, windowMs: 1_000, minRetries: 2 },
      { kind: 'concurrent' as const, ratio: 0.5, minRetries: 1 },
      { kind: 'quota' as const, capacity: 20, retryCost: 5, throttledCost: 10, successGain: 1 },
    ),
  },
  { requiredKeys: [] },
)

class World {
  readonly clock: VirtualClock = virtualClock()
  readonly #pipeline: Pipeline
  readonly #limit: number
  underWay = 0
  readonly breakerEnds = new Map<object, number>()

  constructor(layers: Partial<PipelineDefinition>, seed: number) {
    const ports = { clock: this.clock, random: seededRandom(seed) }
    this.#limit = layers.bulkhead?.limit ?? Infinity
    this.#pipeline = pipeline({
      name: 'any',
      retry: { maxAttempts: 3, initialDelayMs: 10, maxDelayMs: 40, attemptTimeoutMs: ATTEMPT_TIMEOUT_MS },
      idempotent: true,
      ports,
      ...layers,
    })
    const { breaker } = this.#pipeline.partsOf()
    if (breaker !== undefined) this.#count(breaker)
  }

  /** One call, watched from its beginning to its end. */
  async play({ steps, abortAfterMs, totalBudgetMs }: Call, controller: AbortController): Promise<void> {
    const { clock } = this
    const startedAt = clock.monotonic()
    let calls = 0
    const work = async ({ signal }: Attempt): Promise<string> => {
      const { as, ms } = steps[calls++ % steps.length]!
      this.underWay++
      assert.ok(this.underWay <= this.#limit, 'the bulkhead lets too many in')
      try {
        await (as === 'deaf' ? clock.sleep(DEAF_MS) : clock.sleep(ms, signal))
      } finally {
        this.underWay--
      }
      if (as === 'lost') throw reset()
      if (as === 'wrong') throw permanent(new Error('wrong'))
      if (as === 'refused') throw Object.assign(new Error('slow down'), { status: 429 })
      return 'done'
    }
    if (abortAfterMs !== null) void clock.sleep(abortAfterMs).then(() => controller.abort(new Error('enough')))
    const { signal } = controller
    const deadlineAt = clock.now() + totalBudgetMs
    await this.#pipeline.run(work, { signal, deadlineAt }).catch(() => {})
    assert.ok(clock.monotonic() - startedAt <= totalBudgetMs, 'an operation outlives its deadline')
    this.checkBudget()
  }

  checkBudget(): void {
    assert.ok((this.#pipeline.partsOf().budget?.balance ?? 0) >= 0, 'the budget is overdrawn')
  }

  checkRest(): void {
    const { bulkhead, limiter, breaker } = this.#pipeline.partsOf()
    assert.deepEqual([bulkhead?.active ?? 0, bulkhead?.queued ?? 0, bulkhead?.abandoned ?? 0], [0, 0, 0])
    assert.equal(limiter?.inFlight ?? 0, 0)
    if (breaker !== undefined) for (const ends of this.breakerEnds.values()) assert.equal(ends, 1)
  }

  /** A permit is handed out for one operation, and handed back once. */
  #count(breaker: Breaker): void {
    const end = breaker.end.bind(breaker)
    breaker.end = (permit, ...result) => {
      this.breakerEnds.set(permit, (this.breakerEnds.get(permit) ?? 0) + 1)
      end(permit, ...result)
    }
  }
}

describe('any composition of layers', () => {
  it('loses no permit, leaks no slot, alarm or listener, overdraws no budget and outlives no deadline', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyLayers,
        fc.array(anyCall, { minLength: 1, maxLength: 15 }),
        fc.nat(),
        async (layers, calls, seed) => {
          const world = new World(layers, seed)
          await expectNoLeaks(
            async ({ controller }) => {
              let at = 0
              const ends = calls.map(call => {
                at += call.afterMs
                return world.clock.sleep(at).then(() => world.play(call, controller()))
              })
              await world.clock.drain()
              await Promise.all(ends)
            },
            { clock: world.clock },
          )
          assert.equal(world.underWay, 0)
          world.checkRest()
        },
      ),
      { numRuns: 150 },
    )
  })
})
