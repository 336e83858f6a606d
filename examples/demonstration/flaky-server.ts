/**
 * A server like many: fast while it is left alone, with room for a little more than it is usually asked for, and not
 * free when it says no. All of its work goes through one queue, and turning a call away is work too. So whoever asks
 * too often while it is down keeps it down.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom } from '@secondwind/resilience/testing'
import { SCENARIO } from './scenario.ts'
import type { StoryClock } from './story-clock.ts'

export interface FlakyServer {
  readonly url: string
  /** When each call came, in the time of the story. */
  readonly arrivals: readonly number[]
  /** The story begins; what came before it was answered and is forgotten. */
  begin(clock: StoryClock): void
  close(): Promise<void>
}

export async function startFlakyServer(): Promise<FlakyServer> {
  const arrivals: number[] = []
  const random = seededRandom(SCENARIO.seed)
  const queue = new WorkQueue()
  let clock: StoryClock | undefined

  const server = createServer((_, response) => {
    if (clock === undefined) return answer(response, 200)
    const now = clock.now()
    arrivals.push(now)
    const isDown = now >= SCENARIO.downFromMs && now < SCENARIO.downUntilMs
    if (random() < 1 / SCENARIO.lostOneIn) return void response.destroy()
    if (isDown || queue.isFull(now)) {
      queue.add(now, SCENARIO.refuseMs)
      return answer(response, 503)
    }
    setTimeout(() => answer(response, 200), queue.add(now, SCENARIO.serveMs))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    arrivals,
    begin(storyClock) {
      clock = storyClock
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** One pair of hands: what is added is done when everything before it is. */
class WorkQueue {
  #doneAt = 0

  isFull(now: number): boolean {
    return this.#doneAt - now > SCENARIO.maxQueueMs
  }

  /** Returns how long it takes until this piece of work is done, the queue before it included. */
  add(now: number, workMs: number): number {
    this.#doneAt = Math.min(Math.max(now, this.#doneAt) + workMs, now + SCENARIO.maxBacklogMs)
    return this.#doneAt - now
  }
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status).end(status === 200 ? 'here you are' : 'not now')
}
