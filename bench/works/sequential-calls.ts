const WARM_UP_MS = 500
const SLICES = 5
const SLICE_MS = 100
const CALLS_PER_LOOK_AT_THE_CLOCK = 1_000

/**
 * Nanoseconds of this thread's CPU per call, one call awaited after the other. On a quiet machine that is the time on
 * the wall; on a busy one it leaves out the time in which others ran. The fastest of five slices, since
 * neighbours in the processor's caches can only add to it.
 */
export async function nsPerCall<A>(call: (action: A) => Promise<unknown>, action: A): Promise<number> {
  await slice(call, action, WARM_UP_MS)
  let fastestNs = Infinity
  for (let n = 0; n < SLICES; n++) fastestNs = Math.min(fastestNs, await slice(call, action, SLICE_MS))
  return fastestNs
}

async function slice<A>(call: (action: A) => Promise<unknown>, action: A, lastsMs: number): Promise<number> {
  const before = process.threadCpuUsage()
  let callCount = 0
  let cpuMicros = 0
  while (cpuMicros < lastsMs * 1_000) {
    await callTimes(CALLS_PER_LOOK_AT_THE_CLOCK, call, action)
    callCount += CALLS_PER_LOOK_AT_THE_CLOCK
    const { user, system } = process.threadCpuUsage(before)
    cpuMicros = user + system
  }
  return (cpuMicros * 1_000) / callCount
}

async function callTimes<A>(times: number, call: (action: A) => Promise<unknown>, action: A): Promise<void> {
  for (let n = 0; n < times; n++) await call(action)
}
