import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { NOT_ARMED } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { nextTurn } from '../ports/turn.ts'
import { expectNoLeaks, leakCheck, type LeakCheck } from './leak-check.ts'
import { virtualClock } from './virtual-clock.ts'

type AddListeners = (signal: AbortSignal, listener: () => void) => void

/** The leaks of one piece of work that is given a signal of the check. */
async function leaksOf(work: (controller: AbortController) => void): Promise<readonly string[]> {
  const check = leakCheck()
  work(check.controller())
  return check.finish()
}

describe('a leak check', () => {
  it('finds nothing where nothing was left', async () => {
    const clock = virtualClock()
    const check = leakCheck({ clock })
    const controller = check.controller()
    const slept = [clock.sleep(10, controller.signal), systemClock.sleep(1, controller.signal)]
    await clock.drain()
    await Promise.all(slept)
    assert.deepEqual(await check.finish(), [])
  })

  it('finds abort listeners, and says on which of its signals', async () => {
    const check = leakCheck()
    check.controller()
    const { signal } = check.controller()
    signal.addEventListener('abort', () => {})
    signal.addEventListener('abort', () => {})
    assert.deepEqual(await check.finish(), ['2 abort listeners are left on signal 2'])
  })

  it('finds what is set as onabort, which is called as ever', async () => {
    let calls = 0
    const leaks = await leaksOf(controller => {
      controller.signal.onabort = (): void => void calls++
      assert.notEqual(controller.signal.onabort, null)
      controller.abort()
    })
    assert.deepEqual([leaks, calls], [['1 abort listener is left on signal 1'], 1])
    assert.deepEqual(await leaksOf(({ signal }) => void (signal.onabort = null)), [])
  })

  it('finds a sleep that nobody ended, on the clock and on the signal', async () => {
    const clock = virtualClock()
    const before = clock.sleep(5)
    const check = leakCheck({ clock })
    const sleeping = clock.sleep(10, check.controller().signal)
    assert.deepEqual(await check.finish(), ['1 abort listener is left on signal 1', '1 alarm is left on the clock'])
    await clock.drain()
    await Promise.all([before, sleeping])
  })

  it('finds real timers, whoever set them, but not those from before', async () => {
    const before = setTimeout(() => {}, 60_000)
    const check = leakCheck()
    const timer = setTimeout(() => {}, 60_000)
    const alarm = { dueAt: systemClock.monotonic() + 60_000, slot: NOT_ARMED, ring: (): void => {} }
    systemClock.arm(alarm)
    assert.deepEqual(await check.finish(), ['2 real timers are left on the event loop'])
    systemClock.disarm(alarm)
    clearTimeout(timer)
    clearTimeout(before)
  })

  it('finds rejections that nobody handled', async () => {
    // The test runner would take the planted one for a fault of its own.
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    try {
      const check = leakCheck()
      void Promise.reject(new Error('forgotten'))
      assert.deepEqual(await check.finish(), ['a rejection was left unhandled: Error: forgotten'])
      assert.equal(process.listenerCount('unhandledRejection'), 0)
    } finally {
      for (const listener of others) process.on('unhandledRejection', listener)
    }
  })

  it('can be finished twice, with the same result', async () => {
    const check = leakCheck()
    check.controller().signal.addEventListener('abort', () => {})
    assert.deepEqual(await check.finish(), await check.finish())
  })

  it('counts for nothing what its surroundings cannot tell: there may be no process', async () => {
    const { process } = globalThis
    try {
      Reflect.deleteProperty(globalThis, 'process')
      assert.deepEqual(await leakCheck().finish(), [])
    } finally {
      globalThis.process = process
    }
  })
})

describe('a listener', () => {
  const clean: { readonly [rule: string]: AddListeners } = {
    'is removed is no leak': (signal, listener) => {
      signal.addEventListener('abort', listener)
      signal.removeEventListener('abort', listener)
    },
    'is removed as what it was added, a capturing one, is no leak': (signal, listener) => {
      signal.addEventListener('abort', listener, true)
      signal.removeEventListener('abort', listener, { capture: true })
    },
    'is for another event is no leak': (signal, listener) => signal.addEventListener('other', listener),
    'has a signal of its own is gone when that one aborts': (signal, listener) => {
      const own = new AbortController()
      signal.addEventListener('abort', listener, { signal: own.signal })
      own.abort()
      signal.addEventListener('abort', listener, { signal: own.signal })
    },
  }
  for (const [rule, add] of Object.entries(clean))
    it(`that ${rule}`, async () => {
      assert.deepEqual(await leaksOf(({ signal }) => add(signal, () => {})), [])
    })

  it('that is added twice is one, and removing it once is enough', async () => {
    const listener = (): void => {}
    const twice = ({ signal }: AbortController): void => {
      signal.addEventListener('abort', listener)
      signal.addEventListener('abort', listener, { once: true })
    }
    assert.deepEqual(await leaksOf(twice), ['1 abort listener is left on signal 1'])
    const removed = (controller: AbortController): void => {
      twice(controller)
      controller.signal.removeEventListener('abort', listener)
    }
    assert.deepEqual(await leaksOf(removed), [])
  })

  it('that is removed as what it was not added is still there', async () => {
    const leaks = await leaksOf(({ signal }) => {
      const listener = (): void => {}
      signal.addEventListener('abort', listener, { capture: true })
      signal.removeEventListener('abort', listener)
      signal.removeEventListener('other', listener, { capture: true })
    })
    assert.deepEqual(leaks, ['1 abort listener is left on signal 1'])
  })

  it('that asked for one event is used up by the abort; another one stays', async () => {
    const heard: string[] = []
    const leaks = await leaksOf(controller => {
      controller.signal.addEventListener('abort', () => heard.push('once'), { once: true })
      controller.signal.addEventListener('abort', () => heard.push('always'))
      controller.abort()
    })
    assert.deepEqual(heard, ['once', 'always'])
    assert.deepEqual(leaks, ['1 abort listener is left on signal 1'])
  })
})

describe('expectNoLeaks', () => {
  it('returns what the work returns when all is clean', async () => {
    assert.equal(await expectNoLeaks(() => Promise.resolve('result')), 'result')
  })

  it('throws an error that names every leak', async () => {
    const clock = virtualClock()
    const leak = (check: LeakCheck): void => {
      check.controller().signal.addEventListener('abort', () => {})
      clock.arm({ dueAt: 5, slot: NOT_ARMED, ring: () => {} })
    }
    await assert.rejects(expectNoLeaks(leak, { clock }), {
      code: 'leaks',
      message: 'left behind:\n  1 abort listener is left on signal 1\n  1 alarm is left on the clock',
    })
  })

  it('throws what the work threw rather than its leaks, and ends the check all the same', async () => {
    const listeners = process.listenerCount('unhandledRejection')
    const failing = expectNoLeaks(async ({ controller }) => {
      controller().signal.addEventListener('abort', () => {})
      await new Promise<void>(nextTurn)
      throw new Error('the news')
    })
    await assert.rejects(failing, /the news/)
    assert.equal(process.listenerCount('unhandledRejection'), listeners)
  })
})
