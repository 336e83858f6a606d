/**
 * How fast the lab is, as ratios taken in one run: on another machine, or a busy one, they stay what they are.
 *
 *     npm run bench:lab
 */
import { runScenario } from '@secondwind/lab'
import { seededRandom } from '@secondwind/resilience/testing'
import { runBareHeap } from './bare-heap.ts'
import { runPromises } from './promises.ts'
import { closedWorld } from './scenarios.ts'

const CALLS = 1_000_000
const ROUNDS = 5
/** A power of two of them. */
const GAPS_MS = Float64Array.from({ length: 65_536 }, seededRandom(1)).map(roll => -1_000 * Math.log(1 - roll))

interface Lap {
  /** All that were set. */
  readonly events: number
  /** Without those that were withdrawn: time-outs of calls that ended before. */
  readonly came: number
  readonly calls: number
  readonly seconds: number
}

function lap(kind: 'plain' | 'every layer', clients: number): Lap {
  const scenario = closedWorld(kind, clients, CALLS)
  const begun = performance.now()
  const { events, clients: callers, dependencies } = runScenario(scenario)
  const seconds = (performance.now() - begun) / 1_000
  const { calls, retries } = dependencies['server']!
  // A client has thought, a server has worked, a wait is over.
  return { events, came: callers['clients']!.operations + calls + retries, calls, seconds }
}

/** Events per second of the bare heap, with as many waiting as there are clients. */
function bareRate(clients: number, events: number): number {
  const begun = performance.now()
  runBareHeap(clients, events, GAPS_MS)
  return (events * 1_000) / (performance.now() - begun)
}

/** The middle one: the others met the garbage collector, or a neighbour. */
function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!
}

interface Row {
  readonly what: string
  readonly ours: string
  readonly bar: string
  readonly isMet: boolean
}

const rows: Row[] = []
const perEvent = new Map<number, number>()

for (const clients of [1_000, 10_000, 100_000, 1_000_000]) {
  const laps = Array.from({ length: ROUNDS }, () => {
    const simulated = lap('plain', clients)
    return { ...simulated, bare: bareRate(clients, simulated.events) }
  })
  const shareOf = (count: 'events' | 'came'): number => middle(laps.map(one => one[count] / one.seconds / one.bare))
  const nsPerEvent = middle(laps.map(({ events, seconds }) => (seconds * 1e9) / events))
  const calls = middle(laps.map(({ calls, seconds }) => calls / seconds))
  perEvent.set(clients, nsPerEvent)
  say(`${clients} clients: ${(calls / 1e6).toFixed(2)} million calls/s, ${nsPerEvent.toFixed(0)} ns per event`)
  say(`  counting only events that came: ${shareOf('came').toFixed(3)} of the bare heap`)
  rows.push(row(`plain retries, ${clients} clients: share of the bare heap`, shareOf('events'), 0.25))
}

for (const clients of [1_000, 100_000]) {
  const shares = Array.from({ length: ROUNDS }, () => {
    const { events, seconds } = lap('every layer', clients)
    return events / seconds / bareRate(clients, events)
  })
  rows.push(row(`every layer, ${clients} clients: share of the bare heap`, middle(shares), 0.08))
}

const growth = (clients: number): number => perEvent.get(clients)! / perEvent.get(1_000)!
rows.push(atMost('cost per event, 10⁵ clients to 10³', growth(100_000), 2.5))
rows.push(atMost('cost per event, 10⁶ clients to 10³ (rows no longer fit the cache)', growth(1_000_000), 5))

{
  const durationMs = 20_000
  const begun = performance.now()
  const calls = await runPromises(1_000, durationMs)
  const promised = calls / (performance.now() - begun)
  const ours = middle(
    Array.from({ length: ROUNDS }, () => {
      const { calls, seconds } = lap('plain', 1_000)
      return calls / seconds / 1_000
    }),
  )
  rows.push(row('calls per second, as a multiple of promises on a virtual clock', ours / promised, 5))
}

for (const { what, ours, bar, isMet } of rows) say(`${isMet ? 'met    ' : 'NOT MET'}  ${what}: ${ours} (bar ${bar})`)
if (rows.some(({ isMet }) => !isMet)) process.exitCode = 1

function row(what: string, ours: number, least: number): Row {
  return { what, ours: ours.toFixed(3), bar: `≥ ${least}`, isMet: ours >= least }
}

function atMost(what: string, ours: number, most: number): Row {
  return { what, ours: ours.toFixed(2), bar: `≤ ${most}`, isMet: ours <= most }
}

function say(line: string): void {
  console.log(line)
}
