import { followSignal, unfollowSignal, type SignalFollower } from './signals.ts'
import { NOT_ARMED, type Alarm, type Clock } from './clock.ts'

/** `Clock.sleep` in terms of `arm`, for every clock. */
export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const sleep: Alarm & SignalFollower = {
      dueAt: clock.monotonic() + ms,
      slot: NOT_ARMED,
      ring() {
        if (signal !== undefined) unfollowSignal(signal, sleep)
        resolve()
      },
      onAbort(reason) {
        clock.disarm(sleep)
        reject(reason)
      },
    }
    clock.arm(sleep)
    if (signal !== undefined) followSignal(signal, sleep)
  })
}
