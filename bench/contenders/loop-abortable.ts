/**
 * The hand-written loop with one signal that all callers share and that can end their waits.
 * It stays out of the long waits: listeners on one signal cost more the more there are, and 100,000 of
 * them take longer to add than the waits last.
 */
import { setMaxListeners } from 'node:events'
import type { Calls } from './contender.ts'
import { retryLoop, SOON, USUAL } from './loop.ts'

const { signal } = new AbortController()
setMaxListeners(0, signal)

export const calls: Calls = {
  succeeds: action => retryLoop(action, USUAL, signal),
  retriesSoon: action => retryLoop(action, SOON, signal),
}
