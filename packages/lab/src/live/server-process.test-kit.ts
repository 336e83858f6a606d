/** The server, in a process of its own. It says where it listens, serves a world, and tells when the calls came. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Begin, ServerReport } from './live-world.test-kit.ts'
import { sharedNow, watchForStalls } from './stalls.test-kit.ts'

const arrivedAt: number[] = []
let isDownAt: (at: number) => boolean = () => false
let serviceMs = 0

const server = createServer((_, response) => {
  const at = sharedNow()
  arrivedAt.push(at)
  if (isDownAt(at)) response.writeHead(503).end()
  else setTimeout(() => response.end(), serviceMs)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)

const [{ world, beginsAt }] = (await once(process, 'message')) as [Begin]
const { fromMs, untilMs } = world.outage
isDownAt = at => at >= beginsAt + fromMs && at < beginsAt + untilMs
serviceMs = world.serviceMs
const watch = watchForStalls()

await once(process, 'message')
process.send!({ arrivedAt, stalls: watch.stop() } satisfies ServerReport)
// Its parent has what it wanted, or is gone.
process.once('disconnect', () => process.exit())
