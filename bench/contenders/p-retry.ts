/** p-retry has no full jitter (its waits are drawn from one to two times `minTimeout`) and hands out no signal. */
import pRetry, { type Options } from 'p-retry'
import { type Calls, isTransient, LONG_DELAY_MS } from './contender.ts'

const shared = { retries: 2, shouldRetry: ({ error }) => isTransient(error) } satisfies Options

const USUAL: Options = { ...shared, minTimeout: 100, maxTimeout: 5_000, maxRetryTime: 30_000, randomize: true }
const SOON: Options = { ...shared, minTimeout: 1 }
const LONG: Options = { ...shared, minTimeout: LONG_DELAY_MS }

export const calls: Calls = {
  succeeds: action => pRetry(action, USUAL),
  retriesSoon: action => pRetry(action, SOON),
  waitsLong: action => pRetry(action, LONG),
}
