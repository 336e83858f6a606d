/** effect, used from promise code: a program is built and run for each call. Its jitter is ± 20 %. */
import { Effect, Schedule } from 'effect'
import { type Action, type Calls, isTransient, LONG_DELAY_MS, type SignalAction } from './contender.ts'

const shared = { times: 2, while: isTransient }
const usual = { ...shared, schedule: Schedule.exponential(100).pipe(Schedule.jittered) }
const soon = { ...shared, schedule: Schedule.spaced(1) }
const long = { ...shared, schedule: Schedule.spaced(LONG_DELAY_MS) }

export const calls: Calls = {
  succeeds: action => Effect.runPromise(Effect.retry(attemptOf(action), usual)),
  readsSignal: action => Effect.runPromise(Effect.retry(attemptWithSignalOf(action), usual)),
  retriesSoon: action => Effect.runPromise(Effect.retry(attemptOf(action), soon)),
  waitsLong: action => Effect.runPromise(Effect.retry(attemptOf(action), long)),
}

function attemptOf(action: Action): Effect.Effect<unknown, unknown> {
  return Effect.tryPromise({ try: action, catch: unchanged })
}

function attemptWithSignalOf(action: SignalAction): Effect.Effect<unknown, unknown> {
  return Effect.tryPromise({ try: signal => action({ signal }), catch: unchanged })
}

function unchanged(error: unknown): unknown {
  return error
}
