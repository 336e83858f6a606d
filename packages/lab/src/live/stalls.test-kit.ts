/** Milliseconds by the clock that all processes of a machine have in common; it never steps. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** A time in which a process stood still: starved of a processor, or busy with one thing. */
export interface Stall {
  readonly fromAt: number
  readonly untilAt: number
}

const LOOK_MS = 5
/** Less is the usual unrest of timers. */
const LEAST_STALL_MS = 10

/** Watches whether this process gets to do what is due. */
export function watchForStalls(): { stop(): readonly Stall[] } {
  const stalls: Stall[] = []
  let dueAt = sharedNow() + LOOK_MS
  const timer = setInterval(() => {
    const now = sharedNow()
    if (now - dueAt >= LEAST_STALL_MS) stalls.push({ fromAt: dueAt, untilAt: now })
    dueAt = now + LOOK_MS
  }, LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      return stalls
    },
  }
}

/** How much of each second from an instant on is in them, in ms. */
export function stalledMsPerSecond(
  stalls: readonly Stall[],
  { fromAt, seconds }: { fromAt: number; seconds: number },
): number[] {
  return Array.from({ length: seconds }, (_, second) => {
    const beginsAt = fromAt + 1_000 * second
    const within = ({ fromAt, untilAt }: Stall): number =>
      Math.max(0, Math.min(untilAt, beginsAt + 1_000) - Math.max(fromAt, beginsAt))
    return stalls.reduce((sum, stall) => sum + within(stall), 0)
  })
}
