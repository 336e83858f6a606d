/** The callers, in a process of their own: the library as it is, on its own clock and over sockets. */
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { historyOf, pipeline, transient } from '@secondwind/resilience'
import type { Begin, CallersReport } from './live-world.test-kit.ts'
import { sharedNow, watchForStalls } from './stalls.test-kit.ts'

process.once('disconnect', () => process.exit())
const [{ world, beginsAt, url }] = (await once(process, 'message')) as [Begin]
const agent = new Agent({ keepAlive: true })
const watch = watchForStalls()

await until(beginsAt)
// Not before: the slices of its budget are counted from here, as those of the simulation are from 0.
const guarded = pipeline(world.policy)
const operations: Promise<string>[] = []
const gapMs = 1_000 / world.callsPerSecond
for (let place = 1; place * gapMs < world.seconds * 1_000; place++) {
  // By the plan, and not after the one before: what comes late makes nobody else late.
  await until(beginsAt + place * gapMs)
  operations.push(guarded.run(call).then(() => 'succeeded', reasonOf))
}
const outcomes: { [outcome: string]: number } = {}
for (const outcome of await Promise.all(operations)) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
process.send!({ outcomes, stalls: watch.stop() } satisfies CallersReport)

async function until(at: number): Promise<void> {
  const waitMs = at - sharedNow()
  if (waitMs > 0) await sleep(waitMs)
}

function call({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, signal }, response => {
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(transient(new Error('503')))))
    })
    request.on('error', reject)
  })
}

function reasonOf(error: unknown): string {
  return historyOf(error)?.reason ?? 'unknown'
}
