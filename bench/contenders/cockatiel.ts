/** cockatiel's `retry` alone, without its time-out; its signal is one that never aborts, shared by all calls. */
import { ConstantBackoff, ExponentialBackoff, fullJitterGenerator, handleWhen, retry } from 'cockatiel'
import { type Calls, isTransient, LONG_DELAY_MS } from './contender.ts'

const transient = handleWhen(isTransient)
const maxAttempts = 2 // cockatiel counts retries

const usual = retry(transient, {
  maxAttempts,
  backoff: new ExponentialBackoff({ generator: fullJitterGenerator, initialDelay: 100, maxDelay: 5_000 }),
})
const soon = retry(transient, { maxAttempts, backoff: new ConstantBackoff(1) })
const long = retry(transient, {
  maxAttempts,
  backoff: new ExponentialBackoff({
    generator: fullJitterGenerator,
    initialDelay: LONG_DELAY_MS,
    maxDelay: LONG_DELAY_MS,
  }),
})

export const calls: Calls = {
  succeeds: action => usual.execute(action),
  readsSignal: action => usual.execute(action),
  retriesSoon: action => soon.execute(action),
  waitsLong: action => long.execute(action),
  waitsLongJittered: action => long.execute(action),
}
