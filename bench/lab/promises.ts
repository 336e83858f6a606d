import { createBudget, retry, transient } from '@secondwind/resilience'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'

/** The same world as promises: the library itself on a virtual clock. Returns the calls that were made. */
export async function runPromises(clients: number, durationMs: number): Promise<number> {
  const clock = virtualClock()
  const random = seededRandom(1)
  const exponential = (meanMs: number): number => -meanMs * Math.log(1 - random())
  const budgets = Array.from({ length: Math.min(100, clients) }, () => createBudget(undefined, { clock }))
  let calls = 0
  const work = async (): Promise<void> => {
    calls++
    await clock.sleep(exponential(50))
    if (random() < 0.2) throw transient(new Error('down'))
  }
  const client = async (place: number): Promise<void> => {
    const budget = budgets[place % budgets.length]!
    for (;;) {
      await clock.sleep(exponential(1_000))
      if (clock.monotonic() >= durationMs) return
      await retry(work, { maxAttempts: 4 }, { budget, ports: { clock, random } }).catch(() => {})
    }
  }
  const all = Array.from({ length: clients }, (_, place) => client(place))
  await clock.drain({ mostRings: 1e9 })
  await Promise.all(all)
  return calls
}
