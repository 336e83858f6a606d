import assert from 'node:assert/strict'
import { beforeEach, describe, it, vi } from 'vitest'
import { deadline } from '../deadline/deadline.ts'
import { forgetWarnings, type RetryEvent } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import { retry } from '../retry/run.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { createFetch } from '../fetch/index.ts'
import { scriptedServer, virtualClock } from '../testing/index.ts'
import { currentDeadline, runWithDeadline } from './index.ts'

beforeEach(() => {
  forgetWarnings()
  vi.spyOn(console, 'warn').mockReturnValue()
})

const fail = (): never => {
  throw reset()
}

describe('the deadline of the surroundings', () => {
  it('is nobody’s outside of everything', () => {
    assert.equal(currentDeadline(), undefined)
  })

  it('holds for what is done inside, and for nothing else', async () => {
    const clock = virtualClock()
    const mine = deadline({ inMs: 100 }, clock)
    const seen = await runWithDeadline(mine, async () => {
      await Promise.resolve()
      return currentDeadline()
    })
    assert.equal(seen, mine)
    assert.equal(currentDeadline(), undefined)
  })

  it('is the earlier one where two hold', () => {
    const clock = virtualClock()
    const [soon, late] = [deadline({ inMs: 1 }, clock), deadline({ inMs: 2 }, clock)]
    assert.equal(
      runWithDeadline(soon, () => runWithDeadline(late, currentDeadline)),
      soon,
    )
    assert.equal(
      runWithDeadline(late, () => runWithDeadline(soon, currentDeadline)),
      soon,
    )
  })

  it('is inherited by operations: none waits past it', async () => {
    const { clock, ports, work, calls } = scripted(reset())
    const result = runWithDeadline(deadline({ inMs: 250 }, clock), () => retry(work, STEADY, { ports }))
    const { error } = await outcomeOf(clock, result)
    assert.deepEqual([calls, historyOf(error)?.reason], [[0, 100], 'deadline'])
  })

  it('does not lengthen an operation’s own', async () => {
    const { clock, ports, work, calls } = scripted(reset())
    const deadlineAt = clock.now() + 150
    const result = runWithDeadline(deadline({ inMs: 9_000 }, clock), () => retry(work, STEADY, { ports, deadlineAt }))
    await outcomeOf(clock, result)
    assert.deepEqual(calls, [0, 100])
  })

  it('that has passed lets nothing begin', async () => {
    const { clock, ports, work, calls } = scripted(1)
    const { error } = await outcomeOf(
      clock,
      runWithDeadline(deadline({ inMs: 0 }, clock), () => retry(work, STEADY, { ports })),
    )
    assert.deepEqual([calls, (error as { code: string }).code], [[], 'deadline'])
  })

  it('is that of the attempt inside of one: its time-out, or what is left', async () => {
    const { clock, ports } = scripted()
    const policy = { ...STEADY, attemptTimeoutMs: 300, totalBudgetMs: 1_000 }
    const seen = await retry(() => currentDeadline()?.remainingMs, policy, { ports })
    assert.equal(seen, 300)
    const tight = runWithDeadline(deadline({ inMs: 200 }, clock), () =>
      retry(() => currentDeadline()?.remainingMs, policy, { ports }),
    )
    assert.equal(await tight, 200)
  })

  it('is sent along by what is called inside', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['200'], { clock })
    const fetch = createFetch({}, { fetch: server.fetch, ports: { clock } })
    await runWithDeadline(deadline({ inMs: 700 }, clock), () => fetch('https://a.example/'))
    assert.equal(server.requests[0]!.headers['x-timeout-ms'], '700')
  })

  it('does not hold for work that begins anew', async () => {
    const { clock, ports, work, calls } = scripted(reset(), 1)
    const anew = (): Promise<unknown> => runWithDeadline(undefined, () => retry(work, STEADY, { ports }))
    await outcomeOf(
      clock,
      runWithDeadline(deadline({ inMs: 50 }, clock), () => retry(anew, STEADY, { ports })),
    )
    assert.deepEqual(calls, [0, 100])
  })
})

describe('an operation inside of an attempt of another', () => {
  it('makes one attempt for each of the outer’s, with the reason nested', async () => {
    const { clock, ports, work, calls } = scripted(reset())
    const reasons: unknown[] = []
    const inner = (): Promise<unknown> =>
      retry(work, STEADY, { ports, name: 'inner' }).catch((error: unknown) => {
        reasons.push(historyOf(error)?.reason)
        throw error
      })
    const { error } = await outcomeOf(clock, retry(inner, { ...STEADY, maxAttempts: 3 }, { ports, name: 'outer' }))
    assert.deepEqual(
      [calls, reasons],
      [
        [0, 100, 300],
        ['nested', 'nested', 'nested'],
      ],
    )
    assert.equal((error as { code: string }).code, 'ECONNRESET')
  })

  it('is warned of once, with what to do', async () => {
    const { clock, ports, work } = scripted(reset())
    const inner = (): Promise<unknown> => retry(work, STEADY, { ports, name: 'inner' })
    await outcomeOf(clock, retry(inner, STEADY, { ports, name: 'outer' }))
    const lines = vi.mocked(console.warn).mock.calls.map(([line]) => String(line))
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, /^secondwind \[nested\] inner failed and was not retried, for outer will call it again/)
    assert.match(lines[0]!, /nested: 'allow'/)
  })

  it('is not warned of as long as it succeeds', async () => {
    const { clock, ports, work } = scripted(1)
    await outcomeOf(
      clock,
      retry(() => retry(work, STEADY, { ports }), STEADY, { ports }),
    )
    assert.equal(vi.mocked(console.warn).mock.calls.length, 0)
  })

  it('retries as it likes when it stands beside and not inside', async () => {
    const { clock, ports, work, calls } = scripted(reset(), reset(), 1)
    const outer = retry(() => 1, STEADY, { ports })
    await outcomeOf(
      clock,
      outer.then(() => retry(work, STEADY, { ports })),
    )
    assert.equal(calls.length, 3)
  })

  it('retries as it likes in onExhausted, which is no part of an attempt', async () => {
    const { clock, ports, work, calls } = scripted(reset(), 1)
    const onExhausted = (): Promise<unknown> => retry(work, STEADY, { ports })
    const { value } = await outcomeOf(clock, retry(fail, { ...STEADY, maxAttempts: 2 }, { ports, onExhausted }))
    assert.deepEqual([value, calls.length], [1, 2])
  })

  it('has the time of the attempt, and ends with it', async () => {
    const { clock, ports } = scripted()
    const deaf = (): Promise<never> => new Promise(() => {})
    const ends: number[] = []
    const inner = (): Promise<unknown> =>
      retry(deaf, STEADY, { ports }).catch((error: unknown) => {
        ends.push(clock.monotonic())
        throw error
      })
    await outcomeOf(clock, retry(inner, { ...STEADY, maxAttempts: 1, attemptTimeoutMs: 400 }, { ports }))
    assert.deepEqual(ends, [400])
  })
})

describe('an operation that is nested', () => {
  it('retries as it likes with nested: allow', async () => {
    const { clock, ports, work, calls } = scripted(reset())
    const options = { ports, nested: 'allow' } as const
    const twice = { ...STEADY, maxAttempts: 2 }
    await outcomeOf(
      clock,
      retry(() => retry(work, twice, options), twice, { ports }),
    )
    assert.equal(calls.length, 4)
  })

  it.each([
    ['503', 4, 'is returned, and the outer one is content with it'],
    ['reset', 4, 'is thrown, and the outer one will call again'],
  ])('may be a fetch, which takes the same word: %s', async (step, expected) => {
    const clock = virtualClock()
    const server = scriptedServer([step], { clock })
    const client = { fetch: server.fetch, budget: false, ports: { clock } } as const
    const [single, several] = [createFetch(STEADY, client), createFetch(STEADY, { ...client, nested: 'allow' })]
    const callsOf = async (fetch: typeof single): Promise<number> => {
      const before = server.requests.length
      await outcomeOf(
        clock,
        retry(() => fetch('https://a.example/'), STEADY, { ports: { clock } }),
      )
      return server.requests.length - before
    }
    assert.equal(await callsOf(single), expected)
    assert.equal(await callsOf(several), step === '503' ? 4 : 16)
  })

  it('has its own telemetry hear the warning', async () => {
    const { clock, ports, work } = scripted(reset())
    const warnings: unknown[] = []
    const telemetry = (event: RetryEvent): void => void (event.kind === 'warning' && warnings.push(event.code))
    await outcomeOf(
      clock,
      retry(() => retry(work, STEADY, { ports, telemetry }), STEADY, { ports }),
    )
    assert.deepEqual(warnings, ['nested'])
  })

  it('is not, inside of an operation that has a single attempt', async () => {
    for (const [maxAttempts, expected] of [
      [1, 4],
      [2, 2],
    ] as const) {
      const { clock, ports, work, calls } = scripted(reset())
      const inner = (): Promise<unknown> => retry(work, STEADY, { ports })
      await outcomeOf(clock, retry(inner, { ...STEADY, maxAttempts }, { ports }))
      assert.equal(calls.length, expected)
    }
  })
})

describe('the surroundings of operations that run at the same time', () => {
  it('never mix, over waits, time-outs and retries', async () => {
    const clock = virtualClock()
    const ports = { clock, random: () => 0.5 }
    const policy = { maxAttempts: 4, initialDelayMs: 20, jitterType: 'FULL', attemptTimeoutMs: 40 } as const
    const one = (n: number): Promise<void> => {
      const own = deadline({ inMs: 10_000 + n }, clock)
      return runWithDeadline(own, async () => {
        let attempts = 0
        await retry(
          async ({ signal, remainingMs }) => {
            // Inside of an attempt it is that of the attempt; around it, before and after, one’s own.
            assert.equal(Math.round(currentDeadline()!.remainingMs), remainingMs)
            if (++attempts % 2 === 1) await clock.sleep(1 + (n % 7), signal).then(fail)
            else if (attempts < 4) await clock.sleep(60, signal)
          },
          policy,
          { ports, budget: false },
        )
        assert.equal(currentDeadline(), own)
      })
    }
    const all = Promise.all(Array.from({ length: 50 }, (_, n) => one(n)))
    await clock.drain()
    await all
  })
})
