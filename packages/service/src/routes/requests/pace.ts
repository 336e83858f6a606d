import { nextTurn } from '@secondwind/resilience'

/** About a millisecond of parsing. */
const BYTES_IN_ONE_GO = 65_536

/**
 * Paces the work of a large request: after each part that was done, everybody else has a turn if it has become enough.
 * Beats, answers and alarms wait for one part, never for the whole.
 */
export function createPace(): (bytes: number) => Promise<void> | undefined {
  let left = BYTES_IN_ONE_GO
  return bytes => {
    left -= bytes
    if (left > 0) return undefined
    left = BYTES_IN_ONE_GO
    return new Promise(nextTurn)
  }
}
