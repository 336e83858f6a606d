import type { Destination } from '@secondwind/client'
import { sayMs, sayShare } from '@secondwind/lab'

/** Below that many attempts a share says nothing. */
const ENOUGH_ATTEMPTS = 20
/** On a usual day a few of a hundred attempts are retries; from here on retrying is most of the load's growth. */
const STORM_SHARE = 0.3
/** Where no call has failed for so long, the retries of the last minute are those that brought it back. */
const CALM_MS = 10_000

/** One or two that are left, where all others have ended, weigh on nobody any more. */
const ENOUGH_LEFT = 3

export interface Storm {
  readonly destination: string
  readonly say: string
}

/** Its retries are few already: they wait for a gate, and probes are nearly all that is sent. A pause would stop those, too. */
function isSpared({ breaker, hold, kindHolds }: Destination): boolean {
  const isOpen = breaker === 'open' || breaker === 'forced-open'
  return isOpen || hold !== undefined || kindHolds?.retry !== undefined
}

/** The destination that retries weigh on most just now, where they weigh on one at all. */
export function stormOf(destinations: readonly Destination[], now: number): Storm | undefined {
  const [worst] = destinations
    .filter(({ lastFailure }) => lastFailure !== undefined && now - lastFailure.at < CALM_MS)
    .filter(({ inFlight, backlog }) => inFlight + backlog >= ENOUGH_LEFT)
    .filter(one => !isSpared(one))
    .flatMap(({ destination, backlog, recent }) => (recent === undefined ? [] : [{ destination, backlog, ...recent }]))
    .filter(({ attempts, retryShare }) => attempts >= ENOUGH_ATTEMPTS && retryShare >= STORM_SHARE)
    .toSorted((one, other) => other.retryShare * other.attempts - one.retryShare * one.attempts)
  if (worst === undefined) return undefined
  const { destination, retryShare, windowMs, backlog } = worst
  const share = `${sayShare(retryShare)} of the attempts at ${destination} in the last ${sayMs(windowMs)} were retries.`
  const waiting = backlog === 0 ? '' : ` ${backlog} ${backlog === 1 ? 'task waits' : 'tasks wait'} for it.`
  return { destination, say: `A retry storm: ${share}${waiting}` }
}
