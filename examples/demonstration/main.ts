/** `npm run demonstration`: what three clients do to a server that is down for two seconds, and what they get from it. */
import { coloursFor } from './colours.ts'
import { CONTENDERS } from './contenders.ts'
import { startFlakyServer } from './flaky-server.ts'
import { makeCalls } from './load.ts'
import { showProgress } from './progress.ts'
import { introduction, report, standstill } from './report.ts'
import { summarize } from './statistics.ts'
import { StoryClock } from './story-clock.ts'

const { stdout, env } = process
const colours = coloursFor({ isTTY: stdout.isTTY, environment: env })
console.log(introduction(colours))

const servers = await Promise.all(CONTENDERS.map(() => startFlakyServer()))
// The very first call of a process pays for everything that is loaded on demand; it belongs to nobody.
await Promise.all(CONTENDERS.map(({ call }, index) => call(servers[index]!.url)))

const clock = new StoryClock()
const hideProgress = showProgress(stdout, clock)
for (const server of servers) server.begin(clock)
const results = await Promise.all(
  CONTENDERS.map((contender, index) => makeCalls(contender, servers[index]!.url, clock)),
)
const stoodStillMs = clock.stop()
hideProgress()
await Promise.all(servers.map(server => server.close()))

const summaries = CONTENDERS.map(({ name }, index) => summarize(name, results[index]!, servers[index]!.arrivals))
const arrivals = servers.map(server => server.arrivals)
console.log(report(summaries, arrivals, colours) + standstill(stoodStillMs))
