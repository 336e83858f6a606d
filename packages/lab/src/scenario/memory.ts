import type { Problem } from '@secondwind/resilience'
import { DEFAULT_SCENARIO, type Scenario } from './scenario.ts'

/** What a simulation would take, at least, in bytes: by what it keeps for each client, each process and each step. */
export function memoryOf(scenario: Scenario): { readonly [at: string]: number } {
  const { clients, dependencies, durationMs } = scenario
  const { stepMs, drainMs } = { ...DEFAULT_SCENARIO, ...scenario }
  const series = clients.length * LINE_STEP_BYTES + Object.keys(dependencies).length * STATION_STEP_BYTES
  return {
    stepMs: ((durationMs + Math.min(drainMs, durationMs)) / stepMs) * series,
    ...Object.fromEntries(
      clients.map(({ count = 1, processes = count, pipeline }, place) => [
        `clients.${place}.count`,
        count * CLIENT_BYTES + (pipeline === undefined ? 0 : processes * PROCESS_BYTES),
      ]),
    ),
  }
}

/** Two gigabytes: what a process, or a tab, can be expected to get. */
const MOST_BYTES = 2e9

export function memoryProblems(scenario: Scenario): Problem[] {
  const needed = memoryOf(scenario)
  const total = Object.values(needed).reduce((sum, bytes) => sum + bytes, 0)
  if (total <= MOST_BYTES) return []
  const [at, bytes] = Object.entries(needed).toSorted(([, one], [, other]) => other - one)[0]!
  const say = `would need ${sayBytes(bytes)} of memory, and ${sayBytes(MOST_BYTES)} is the most${advice(at)}`
  return [{ at, is: valueAt(scenario, at), say }]
}

function advice(at: string): string {
  return at === 'stepMs' ? ': take longer steps' : ': let several clients share a process, or take fewer'
}

function valueAt({ clients, stepMs }: Scenario, at: string): unknown {
  return at === 'stepMs' ? stepMs : clients[Number(at.split('.')[1])]?.count
}

function sayBytes(bytes: number): string {
  return bytes >= 1e9 ? `${Number((bytes / 1e9).toPrecision(3))} GB` : `${Math.ceil(bytes / 1e6)} MB`
}

/** An event, its place, and a row of each kind while it calls. */
const CLIENT_BYTES = 300
/** A budget's window, the states of gates, and what it knows about latencies. */
const PROCESS_BYTES = 1_500
const LINE_STEP_BYTES = 4 * 8
const STATION_STEP_BYTES = 8 * 8
