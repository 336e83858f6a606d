import assert from 'node:assert/strict'
import { describe, it, onTestFinished, vi } from 'vitest'
import { RefusedError } from '../errors.ts'
import { accompanyAll, type Accompanied, type Companion, type Gate } from './companion.ts'
import { historyOf } from './history.ts'
import { retry } from './run.ts'
import { outcomeOf, reset, scripted, STEADY } from './scripted.test-kit.ts'

const SHUT = new RefusedError('throttled', 'shut')

/** A gate that writes down what it is told, and answers as it is asked to. */
function gate(log: string[], answers: Partial<Companion> = {}): Gate & { operation?: Accompanied } {
  const made: Gate & { operation?: Accompanied } = {
    accompany(operation) {
      made.operation = operation
      return {
        started: () => void log.push(`started ${operation.attempts}`),
        ended: ({ outcome }) => void log.push(`ended ${outcome.kind}`),
        workEnded: () => void log.push('workEnded'),
        waits: ({ delayMs }) => void log.push(`waits ${delayMs}`),
        over: end => void log.push(`over ${end?.reason ?? 'well'}`),
        ...answers,
      }
    },
  }
  return made
}

/** What a promise came to; time moves only as the test moves it. */
function settledOf<T>(promise: Promise<T>): Promise<{ value?: T; error?: unknown }> {
  return promise.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
}

describe('a companion', () => {
  it('hears of every attempt, every wait and the end, in this order', async () => {
    const { clock, ports, work } = scripted(reset(), 1)
    const log: string[] = []
    await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate(log)] }))
    assert.deepEqual(log, [
      'started 1',
      'ended failure',
      'waits 100',
      'workEnded',
      'started 2',
      'ended success',
      'over well',
      'workEnded',
    ])
  })

  it('hears that work has ended also when nobody waited for it any more', async () => {
    const { clock, ports } = scripted()
    const log: string[] = []
    let end: () => void = () => {}
    const deaf = (): Promise<void> => new Promise(resolve => (end = resolve))
    const policy = { ...STEADY, maxAttempts: 1, attemptTimeoutMs: 10 }
    await outcomeOf(clock, retry(deaf, policy, { ports, gates: [gate(log)] }))
    assert.deepEqual(log, ['started 1', 'ended failure', 'over attempts'])
    end()
    await new Promise(resolve => setImmediate(resolve))
    assert.equal(log.at(-1), 'workEnded')
  })

  it('that refuses the first attempt has its own error thrown', async () => {
    const { clock, ports, work, calls } = scripted(1)
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate([], { enter: () => SHUT })] }))
    assert.deepEqual([error, calls, historyOf(error)?.reason], [SHUT, [], 'throttled'])
  })

  it('that refuses a later attempt leaves the error of the last one', async () => {
    const lost = reset()
    const { clock, ports, work, calls } = scripted(lost)
    let asked = 0
    const enter = (): RefusedError | undefined => (++asked > 1 ? SHUT : undefined)
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate([], { enter })] }))
    assert.deepEqual([error, calls, historyOf(error)?.reason], [lost, [0], 'throttled'])
  })

  it('that does not want another attempt ends the operation before the wait', async () => {
    const { clock, ports, work } = scripted(reset())
    const log: string[] = []
    await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate(log, { mayRetry: () => SHUT })] }))
    assert.deepEqual(log, ['started 1', 'ended failure', 'over throttled', 'workEnded'])
    assert.equal(clock.monotonic(), 0)
  })

  it('may name an instant: until then the operation waits, and then all are asked again', async () => {
    const { clock, ports, work, calls } = scripted(1)
    const asked: number[] = []
    const enter = (now: number): number | undefined => (asked.push(now) < 3 ? now + 50 : undefined)
    await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate([], { enter })] }))
    assert.deepEqual([asked, calls], [[0, 50, 100], [100]])
  })

  it('may have it asked again earlier', async () => {
    const { clock, ports, work, calls } = scripted(1)
    let isOpen = false
    const waiting = gate([], { enter: now => (isOpen ? undefined : now + 5_000) })
    const result = settledOf(retry(work, STEADY, { ports, gates: [waiting] }))
    await clock.advance(20)
    isOpen = true
    waiting.operation!.askAgain()
    assert.deepEqual([await result, calls], [{ value: 1 }, [20]])
  })

  it('cannot make it wait past the deadline', async () => {
    const { clock, ports, work, calls } = scripted(1)
    const policy = { ...STEADY, totalBudgetMs: 300, attemptTimeoutMs: 100 }
    const result = retry(work, policy, { ports, gates: [gate([], { enter: now => now + 5_000 })] })
    const { error } = await outcomeOf(clock, result)
    assert.deepEqual([historyOf(error)?.reason, clock.monotonic(), calls], ['deadline', 300, []])
  })

  it('may end an operation that waits, at once, and not one that is calling', async () => {
    const lost = reset()
    const { clock, ports, work } = scripted(lost)
    const killing = gate([], {})
    const result = settledOf(retry(work, STEADY, { ports, gates: [killing] }))
    killing.operation!.refuse(new RefusedError('killed', 'off'))
    await clock.advance(50)
    killing.operation!.refuse(new RefusedError('killed', 'off'))
    const { error } = await result
    assert.deepEqual([error, historyOf(error)?.reason, clock.monotonic()], [lost, 'killed', 50])
  })

  it('of an operation that waits for a gate is left at once by an abort', async () => {
    const { clock, ports, work } = scripted(1)
    const log: string[] = []
    const controller = new AbortController()
    const gates = [gate(log, { enter: now => now + 5_000 })]
    const result = settledOf(retry(work, STEADY, { ports, gates, signal: controller.signal }))
    await clock.advance(10)
    controller.abort('enough')
    assert.deepEqual([await result, log, clock.pending], [{ error: 'enough' }, ['over aborted'], 0])
  })

  it('may stand around the call, the first outermost', async () => {
    const { clock, ports, work } = scripted(1)
    const log: string[] = []
    const around = (name: string): Gate =>
      gate(log, {
        around: (call, attempt) => {
          log.push(name)
          return call(attempt)
        },
      })
    await outcomeOf(clock, retry(work, STEADY, { ports, gates: [around('outer'), around('inner')] }))
    assert.deepEqual(
      log.filter(line => line.endsWith('er')),
      ['outer', 'inner'],
    )
  })

  it('is told of a callback that threw as of a failure', async () => {
    const { clock, ports, work } = scripted(1)
    const log: string[] = []
    const classifyResult = (): never => {
      throw new Error('mine')
    }
    await outcomeOf(clock, retry(work, STEADY, { ports, gates: [gate(log)], classifyResult }))
    assert.ok(log.includes('over permanent'))
  })

  it('that throws while it is told something changes nothing for the caller', async () => {
    const { clock, ports, work } = scripted('done')
    const heard = vi.spyOn(console, 'error').mockReturnValue()
    const bad = (): never => {
      throw new Error('mine')
    }
    const gates = [gate([], { ended: bad, over: bad, workEnded: bad })]
    assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports, gates })), { value: 'done' })
    assert.equal(heard.mock.calls.length, 3)
    heard.mockRestore()
  })

  it('can go along with every operation of the process, until it leaves', async () => {
    const log: string[] = []
    const leave = accompanyAll(gate(log))
    onTestFinished(leave)
    await retry(() => 1)
    assert.equal(log.length, 4)
    leave()
    await retry(() => 1)
    assert.equal(log.length, 4)
  })
})
