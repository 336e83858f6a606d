import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { permanent, transient } from '../classify/marks.ts'
import { virtualClock } from '../testing/index.ts'
import { retry } from './run.ts'
import { reset, STEADY } from './scripted.test-kit.ts'

/**
 * The places at which a retry can go wrong, each with a fault injected once, several times and for ever. What must
 * hold every time: a bound on the calls, a wait between any two of them, and at the end either the value or the very
 * fault that was injected, never another.
 */
const SITES: { readonly [site: string]: (fault: unknown) => unknown } = {
  'a rejected promise': fault => Promise.reject(fault),
  'a throw before the first await': fault => {
    throw fault
  },
  'a throw after an await': async fault => {
    await Promise.resolve()
    throw fault
  },
  // oxlint-disable-next-line unicorn/no-thenable
  'a thenable that rejects': fault => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(fault) }),
}

const FAULTS: { readonly [fault: string]: () => unknown } = {
  'a reset connection': () => reset(),
  'a refused connection inside a cause': () =>
    new Error('client', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
  'a 503': () => Object.assign(new Error('unavailable'), { status: 503 }),
  'a marked error': () => transient(new Error('marked')),
}

const UNRECOVERABLE: { readonly [fault: string]: () => unknown } = {
  'a bug': () => new TypeError('not a function'),
  'a 404': () => Object.assign(new Error('not found'), { status: 404 }),
  'a marked error': () => permanent(reset()),
  'a text': () => 'text',
}

async function play(
  site: (fault: unknown) => unknown,
  faults: readonly unknown[],
): Promise<{ begins: number[]; value?: unknown; error?: unknown }> {
  const clock = virtualClock()
  const begins: number[] = []
  const work = (): unknown => {
    const fault = faults[begins.push(clock.monotonic()) - 1]
    return fault === undefined ? 'value' : site(fault)
  }
  const result = retry(work, STEADY, { ports: { clock } }).then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
  await clock.drain()
  return { begins, ...(await result) }
}

describe('the grid of retry bugs', () => {
  for (const [site, fail] of Object.entries(SITES)) {
    for (const [name, fault] of Object.entries(FAULTS))
      for (const times of [1, 3, 100])
        it(`${name} from ${site}, ${times === 100 ? 'for ever' : `${times} times`}`, async () => {
          const faults = Array.from({ length: times }, fault)
          const { begins, value, error } = await play(fail, faults)
          assert.equal(begins.length, Math.min(times + 1, STEADY.maxAttempts!))
          assert.deepEqual(begins, [0, 100, 300, 700].slice(0, begins.length))
          if (times < STEADY.maxAttempts!) assert.equal(value, 'value')
          else assert.equal(error, faults[STEADY.maxAttempts! - 1])
        })
    for (const [name, fault] of Object.entries(UNRECOVERABLE))
      it(`${name} from ${site} is not retried`, async () => {
        const faults = [fault()]
        const { begins, error } = await play(fail, faults)
        assert.equal(begins.length, 1)
        assert.equal(error, faults[0])
      })
  }
})
