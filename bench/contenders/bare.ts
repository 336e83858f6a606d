/** Nothing around the call. */
import type { Calls } from './contender.ts'

export const calls: Calls = { hedged: action => action(), limited: action => action(), throttled: action => action() }
