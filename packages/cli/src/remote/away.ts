/** A service that is restarted does not answer for a moment. Whoever follows something waits for it, and says so. */
import { ServiceError, UnreachableError } from '@secondwind/client'
import type { Clock } from '@secondwind/resilience'
import { sayClock } from '../output/say-time.ts'
import { isBusy } from './service-failure.ts'

/** So long a service that had been there may be away, before somebody should know. */
export const LONGEST_AWAY_MS = 60_000
/** Between two tries: it is soon noticed that it is back, and one that begins is not stormed. */
export const AWAY_LOOK_MS = 1_000

export function isAway(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ServiceError && isBusy(error.status))
}

export function sayAway(sinceAt: number): string {
  return `no answer since ${sayClock(sinceAt)}`
}

interface Waiting {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>
  /** Hears once that it is away, and once that it is back. */
  readonly tell: (line: string) => void
  /** What is thrown in the end. */
  readonly givenUp: (error: unknown, sinceAt: number) => unknown
}

/** The answer, where need be to a later try. */
export async function onceBack<Value>(ask: () => Promise<Value>, { clock, tell, givenUp }: Waiting): Promise<Value> {
  const [sinceAt, startedAt] = [clock.now(), clock.monotonic()]
  for (let tries = 1; ; tries++) {
    try {
      const value = await ask()
      if (tries > 1) tell('it answers again')
      return value
    } catch (error) {
      if (!isAway(error)) throw error
      if (clock.monotonic() - startedAt >= LONGEST_AWAY_MS) throw givenUp(error, sinceAt)
      if (tries === 1) tell(`${sayAway(sinceAt)}: waiting for the service to come back`)
    }
    await clock.sleep(AWAY_LOOK_MS)
  }
}
