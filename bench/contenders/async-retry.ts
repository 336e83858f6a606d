/** async-retry has neither predicate nor signal, and no full jitter. */
import retry from 'async-retry'
import { type Calls, LONG_DELAY_MS } from './contender.ts'

const USUAL: retry.Options = { retries: 2, minTimeout: 100, maxTimeout: 5_000, maxRetryTime: 30_000 }
const SOON: retry.Options = { retries: 2, minTimeout: 1, randomize: false }
const LONG: retry.Options = { retries: 2, minTimeout: LONG_DELAY_MS, randomize: false }

export const calls: Calls = {
  succeeds: action => retry(action, USUAL),
  retriesSoon: action => retry(action, SOON),
  waitsLong: action => retry(action, LONG),
}
