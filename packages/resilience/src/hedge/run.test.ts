import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createBudget } from '../budget/run.ts'
import { permanent } from '../classify/marks.ts'
import { killSwitch } from '../kill-switch/run.ts'
import { createRateLimit } from '../rate-limit/run.ts'
import { pipeline, type Pipeline } from '../pipeline/run.ts'
import type { PipelineDefinition } from '../pipeline/definition.ts'
import type { Attempt } from '../retry/options.ts'
import { outcomeOf, reset } from '../retry/scripted.test-kit.ts'
import { virtualClock, type VirtualClock } from '../testing/index.ts'

/** Calls that answer after so many ms, the n-th after the n-th number: a number's value, or an error. */
function world(definition: Partial<PipelineDefinition> = {}): {
  clock: VirtualClock
  hedged: Pipeline
  call: (...steps: readonly Step[]) => (attempt: Attempt) => Promise<number>
  begun: number[]
  aborted: number[]
} {
  const clock = virtualClock()
  const begun: number[] = []
  const aborted: number[] = []
  const hedged = pipeline({
    name: 'reads',
    retry: { maxAttempts: 1, attemptTimeoutMs: 1_000 },
    hedge: { delayMs: 50, maxExtraLoad: 1 },
    idempotent: true,
    ports: { clock, random: () => 0.5 },
    ...definition,
  })
  const call = (...steps: readonly Step[]) => {
    let calls = 0
    return async ({ signal }: Attempt): Promise<number> => {
      const n = calls++
      const { afterMs, throws } = steps[Math.min(n, steps.length - 1)]!
      begun.push(clock.monotonic())
      signal.addEventListener('abort', () => aborted.push(n))
      await clock.sleep(afterMs, signal)
      if (throws !== undefined) throw throws
      return n
    }
  }
  return { clock, hedged, call, begun, aborted }
}

interface Step {
  readonly afterMs: number
  readonly throws?: unknown
}

describe('a hedged call', () => {
  it('that answers in time has no company', async () => {
    const { clock, hedged, call, begun } = world()
    assert.deepEqual(await outcomeOf(clock, hedged.run(call({ afterMs: 49 }))), { value: 0 })
    assert.deepEqual(begun, [0])
  })

  it('that is slow gets company, and the first answer counts; the other is told to stop', async () => {
    const { clock, hedged, call, begun, aborted } = world()
    assert.deepEqual(await outcomeOf(clock, hedged.run(call({ afterMs: 900 }, { afterMs: 10 }))), { value: 1 })
    assert.deepEqual([begun, aborted, clock.monotonic(), clock.pending], [[0, 50], [0], 60, 0])
  })

  it('may still answer itself while its company is under way', async () => {
    const { clock, hedged, call, aborted } = world()
    assert.deepEqual(await outcomeOf(clock, hedged.run(call({ afterMs: 60 }, { afterMs: 900 }))), { value: 0 })
    assert.deepEqual(aborted, [1])
  })

  it('leaves the signal of the winner alone: what it has brought home outlives the others', async () => {
    const { clock, hedged } = world()
    const signals: AbortSignal[] = []
    const call = async ({ signal }: Attempt): Promise<number> => {
      const n = signals.push(signal)
      await clock.sleep(n === 1 ? 900 : 5, signal)
      return n
    }
    await outcomeOf(clock, hedged.run(call))
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true, false],
    )
  })

  it('is not over when one copy fails in passing and another is under way', async () => {
    const { clock, hedged, call } = world()
    const steps = [{ afterMs: 100 }, { afterMs: 1, throws: reset() }]
    assert.deepEqual(await outcomeOf(clock, hedged.run(call(...steps))), { value: 0 })
  })

  it('is over when a copy fails for good', async () => {
    const { clock, hedged, call } = world()
    const wrong = permanent(new Error('no such thing'))
    const { error } = await outcomeOf(clock, hedged.run(call({ afterMs: 900 }, { afterMs: 1, throws: wrong })))
    assert.deepEqual([error, clock.monotonic()], [wrong, 51])
  })

  it('that fails before its company comes is a failed attempt, and a matter for retries', async () => {
    const { clock, hedged, call, begun } = world({ retry: { maxAttempts: 2, initialDelayMs: 200, jitterType: 'NONE' } })
    await outcomeOf(clock, hedged.run(call({ afterMs: 10, throws: reset() }, { afterMs: 10 })))
    assert.deepEqual(begun, [0, 210])
  })

  it('gets company only on the caller’s word or with a key', async () => {
    for (const [options, calls] of [
      [{}, 1],
      [{ idempotent: false, idempotencyKey: 'k' }, 1],
      [{ idempotencyKey: 'k' }, 2],
      [{ idempotent: true }, 2],
      [{ idempotent: true, once: 'not-replayable' as const }, 1],
    ] as const) {
      const { clock, call, begun, hedged } = world({ idempotent: undefined as never })
      await outcomeOf(clock, hedged.run(call({ afterMs: 100 }), options))
      assert.equal(begun.length, calls, JSON.stringify(options))
    }
  })

  it('draws on the budget of the retries', async () => {
    const clock = virtualClock()
    const budget = createBudget({ kind: 'rate', perSecond: 0.001, burst: 1 }, { clock })
    const { hedged, begun } = world({ budget, ports: { clock } })
    const run = (): Promise<number> =>
      hedged.run(async ({ signal }) => {
        begun.push(clock.monotonic())
        await clock.sleep(100, signal)
        return 1
      })
    await outcomeOf(clock, Promise.all([run(), run()]))
    assert.equal(begun.length, 3, 'two calls, and company for one of them')
    assert.equal(Math.floor(budget.balance), 0)
  })

  it('has no more company than its own share of the load allows', async () => {
    const { clock, hedged, call, begun } = world({ hedge: { delayMs: 50, maxExtraLoad: 0.1 } })
    const runs = Array.from({ length: 20 }, () => hedged.run(call({ afterMs: 200 })))
    await outcomeOf(clock, Promise.all(runs))
    assert.equal(begun.length, 22)
  })

  it('ends with its attempt: no company comes after a time-out or an abort, and nothing is left behind', async () => {
    const { clock, hedged, begun } = world({
      retry: { maxAttempts: 1, attemptTimeoutMs: 70 },
      hedge: { delayMs: 50, maxExtraCalls: 5, maxExtraLoad: 1 },
    })
    const deaf = (): Promise<never> => {
      begun.push(clock.monotonic())
      return new Promise(() => {})
    }
    await outcomeOf(clock, hedged.run(deaf))
    assert.deepEqual([begun, clock.pending], [[0, 50], 0])
    const controller = new AbortController()
    const result = hedged.run(deaf, { signal: controller.signal }).catch((error: unknown) => error)
    controller.abort('enough')
    assert.deepEqual([await result, clock.pending, begun.length], ['enough', 0, 3])
  })

  it('learns its delay from the calls that succeeded', async () => {
    const { clock, hedged, call, begun } = world({ hedge: { delayPercentile: 90, minSamples: 10, maxExtraLoad: 1 } })
    for (let n = 0; n < 10; n++) await outcomeOf(clock, hedged.run(call({ afterMs: 20 })))
    begun.length = 0
    const before = clock.monotonic()
    await outcomeOf(clock, hedged.run(call({ afterMs: 500 }, { afterMs: 5 })))
    assert.equal(begun.length, 2)
    const delay = begun[1]! - before
    assert.ok(delay >= 19 && delay <= 22, String(delay))
  })

  it('takes a place at the bulkhead for each copy, until it has really ended', async () => {
    const { clock, hedged, begun } = world({ bulkhead: { limit: 2 } })
    const ends: (() => void)[] = []
    const deaf = (): Promise<number> => {
      const n = begun.push(clock.monotonic())
      return n === 2 ? Promise.resolve(n) : new Promise(resolve => ends.push(() => resolve(n)))
    }
    const { value } = await outcomeOf(clock, hedged.run(deaf))
    const { bulkhead } = hedged.partsOf()
    assert.deepEqual([value, bulkhead?.active], [2, 1], 'the first call has lost, and goes on')
    ends[0]!()
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(bulkhead?.active, 0)
  })

  it('fails as one when a budget or a promise-like misbehaves, and gives back its places', async () => {
    const budget = {
      deposit: () => {},
      tryWithdraw: () => {
        throw new Error('redis is down')
      },
      balance: 1,
    }
    const { clock, hedged, call } = world({ budget, bulkhead: { limit: 2 } })
    const { error } = await outcomeOf(clock, hedged.run(call({ afterMs: 100 })))
    assert.match(String(error), /redis is down/)
    assert.deepEqual([hedged.partsOf().bulkhead?.active, clock.pending], [0, 0])
  })

  it('counts each copy once, however often it says that it has ended', async () => {
    const { clock, hedged } = world({ bulkhead: { limit: 2 }, limiter: { kind: 'aimd' } })
    // oxlint-disable-next-line unicorn/no-thenable
    const often = { then: (done: (value: number) => void) => [1, 2, 3].forEach(done) }
    const twice = Object.assign(Promise.resolve(1), {
      // oxlint-disable-next-line unicorn/no-thenable
      then(this: Promise<number>, ...handlers: Parameters<Promise<number>['then']>) {
        void Promise.prototype.then.apply(this, handlers)
        return Promise.prototype.then.apply(this, handlers)
      },
    }) as Promise<number>
    await outcomeOf(
      clock,
      hedged.run(() => often as unknown as Promise<number>),
    )
    await outcomeOf(
      clock,
      hedged.run(() => twice, { idempotent: false }),
    )
    const { bulkhead, limiter } = hedged.partsOf()
    assert.deepEqual([bulkhead?.active, bulkhead?.abandoned, limiter?.inFlight], [0, 0, 0])
  })

  it('lets go of what copies returned and nobody will see', async () => {
    const discarded: unknown[] = []
    const { clock, hedged } = world({
      classifyResult: value => ((value as { status: number }).status === 200 ? undefined : 'transient'),
      discard: value => void discarded.push((value as { copy: number }).copy),
    })
    let copies = 0
    const answer = async (): Promise<unknown> => {
      const copy = ++copies
      await clock.sleep(copy === 1 ? 70 : 90)
      return { copy, status: copy === 1 ? 503 : 200 }
    }
    const { value } = await outcomeOf(clock, hedged.run(answer))
    assert.deepEqual([value, discarded], [{ copy: 2, status: 200 }, [1]])
  })

  it('has no company while a kill switch forbids it, whoever’s name it says', async () => {
    for (const name of ['reads', 'charge']) {
      const { clock, hedged, call, begun } = world()
      killSwitch.set({ name, level: 'hedges-off', reason: 'a storm' })
      await outcomeOf(clock, hedged.run(call({ afterMs: 100 }), { name: 'charge' }))
      killSwitch.clear('all')
      assert.equal(begun.length, 1, name)
    }
  })

  it('gets no company on the word of a budget that answers with a promise: the call is refused with a sentence', async () => {
    const late = (async () => true) as never
    for (const verbs of [{ tryWithdraw: late }, { tryWithdraw: () => true, covers: late }]) {
      const { clock, hedged, call, begun } = world({ budget: { deposit: () => {}, balance: 1, ...verbs } })
      const { error } = await outcomeOf(clock, hedged.run(call({ afterMs: 100 })))
      assert.match(String(error), /^InvalidAnswerError: (tryWithdraw|covers) of the budget returned \[object Promise\]/)
      assert.equal(begun.length, 1)
    }
  })

  it('asks the gates of one’s own for every copy', async () => {
    const clock = virtualClock()
    const gates = [createRateLimit({ perSecond: 1, burst: 1 }, { clock })]
    const { hedged, begun } = world({ gates, ports: { clock } })
    await outcomeOf(
      clock,
      hedged.run(async ({ signal }) => {
        begun.push(clock.monotonic())
        await clock.sleep(100, signal)
      }),
    )
    assert.equal(begun.length, 1)
  })

  it('loses nothing, whatever its copies do', async () => {
    const step = fc.record({ afterMs: fc.nat({ max: 300 }), fails: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), fc.nat({ max: 3 }), async (steps, extra) => {
        const { clock, hedged, call, begun } = world({
          hedge: { delayMs: 20, maxExtraCalls: extra + 1, maxExtraLoad: 1 },
          bulkhead: { limit: 10 },
        })
        const played = steps.map(({ afterMs, fails }) => ({ afterMs, ...(fails && { throws: reset() }) }))
        const { value, error } = await outcomeOf(clock, hedged.run(call(...played)))
        assert.ok((value === undefined) !== (error === undefined))
        assert.ok(begun.length <= extra + 2)
        if (steps.every(({ fails }) => !fails)) assert.equal(error, undefined)
        assert.deepEqual([clock.pending, hedged.partsOf().bulkhead?.active], [0, 0])
      }),
    )
  })
})
