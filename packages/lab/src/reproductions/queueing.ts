import { runScenario } from '../run-scenario.ts'
import type { Distribution } from '../scenario/distribution.ts'
import type { ClientGroup, Scenario } from '../scenario/scenario.ts'
import type { RunResult } from '../measure/result.ts'
import { immediately } from './published-policies.ts'
import { between, holds, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

interface QueueSpec {
  readonly servers?: number
  readonly serviceMs: Distribution
  readonly group: Pick<ClientGroup, 'arrivals'> & Partial<ClientGroup>
  readonly durationMs: number
}

function queue({ servers = 1, serviceMs, group, durationMs }: QueueSpec): Scenario {
  return {
    name: 'queue',
    durationMs,
    warmUpMs: durationMs / 50,
    stepMs: durationMs / 200,
    drainMs: 0,
    clients: [{ name: 'clients', calls: 'server', ...group }],
    pipelines: { again: immediately('again', 10_000) },
    dependencies: { server: { servers, serviceMs } },
  }
}

interface Steady {
  readonly servers: number
  readonly load: number
  readonly isConstant?: boolean
}

const MEAN_MS = 10

/** The mean wait in the queue, in service times, over half a million jobs. */
function waitOf(spec: Steady, seed: number): number {
  const { servers, load, isConstant = false } = spec
  const perSecond = (load * servers * 1_000) / MEAN_MS
  const durationMs = 500_000_000 / perSecond
  const { clients, dependencies } = runScenario(
    queue({
      servers,
      serviceMs: isConstant ? MEAN_MS : { kind: 'exponential', meanMs: MEAN_MS },
      group: { arrivals: { kind: 'poisson', perSecond } },
      durationMs,
    }),
    { seed },
  )
  // What was drawn and not what was meant: chance in the service times is none in the waits.
  const { workMs, calls } = dependencies['server']!
  return (clients['clients']!.latency.meanMs - workMs / calls) / MEAN_MS
}

const QUEUES: readonly (Steady & { readonly theirs: number; readonly within: number })[] = [
  { servers: 1, load: 0.8, theirs: 4, within: 0.02 },
  { servers: 1, load: 0.8, isConstant: true, theirs: 2, within: 0.02 },
  { servers: 1, load: 0.9, isConstant: true, theirs: 4.5, within: 0.05 },
  { servers: 2, load: 0.8, theirs: 1.777778, within: 0.02 },
  { servers: 10, load: 0.8, theirs: 0.20459, within: 0.02 },
  { servers: 10, load: 0.9, theirs: 0.668732, within: 0.05 },
  { servers: 100, load: 0.95, theirs: 0.101291, within: 0.05 },
]

function queues(effort: Effort): Finding[] {
  return QUEUES.map(({ theirs, within, ...spec }, place) => {
    // Constant service times leave less to chance.
    const runs = (effort === 'quick' ? 1 : 10) * (within < 0.05 ? (spec.isConstant === true ? 2 : 4) : 1)
    // Each has seeds of its own: with the same ones, a busy day would be busy for all of them.
    const ours = mean(seedsOf(runs).map(seed => waitOf(spec, 100 * place + seed)))
    const kind = spec.isConstant === true ? 'D' : 'M'
    return near(`M/${kind}/${spec.servers} at ${spec.load}: wait, in service times`, {
      theirs,
      ours,
      within,
      unit: 'times',
    })
  })
}

const exponentialJob: Distribution = { kind: 'exponential', meanMs: 100 }

function openAndClosed(effort: Effort): Finding[] {
  const seeds = seedsOf(effort === 'quick' ? 4 : 20)
  const all = (spec: QueueSpec): RunResult[] => seeds.map(seed => runScenario(queue(spec), { seed }))
  const durationMs = 20_000_000
  const open = all({ serviceMs: exponentialJob, group: { arrivals: { kind: 'poisson', perSecond: 8 } }, durationMs })
  const closed = all({
    serviceMs: exponentialJob,
    group: { count: 10, arrivals: { kind: 'closed', thinkMs: { kind: 'exponential', meanMs: 1_145 } } },
    durationMs,
  })
  const latency = (runs: RunResult[], of: 'meanMs' | 'p99Ms'): number =>
    mean(runs.map(({ clients }) => clients['clients']!.latency[of]))
  const utilisation = mean(closed.map(({ dependencies }) => dependencies['server']!.utilisation!))
  return [
    near('open: mean, ms', { theirs: 500, ours: latency(open, 'meanMs'), within: 0.03, unit: 'ms' }),
    near('open: p99, ms', { theirs: 500 * Math.log(100), ours: latency(open, 'p99Ms'), within: 0.05, unit: 'ms' }),
    near('ten closed: mean, ms', { theirs: 242, ours: latency(closed, 'meanMs'), within: 0.02, unit: 'ms' }),
    near('ten closed: utilisation', { theirs: 0.721, ours: utilisation, within: 0.02, unit: 'share' }),
  ]
}

const bimodalJob: Distribution = {
  kind: 'bimodal',
  slowShare: 0.001,
  fast: exponentialJob,
  slow: { kind: 'exponential', meanMs: 10_000 },
}
const bimodalLoad = { arrivals: { kind: 'poisson', perSecond: 7.2793 } } as const

function bimodal(): Finding[] {
  const runs = seedsOf(20).map(seed => {
    const spec = { serviceMs: bimodalJob, group: bimodalLoad, durationMs: 20_000_000 }
    return runScenario(queue(spec), { seed }).clients['clients']!.latency
  })
  const meanMs = mean(runs.map(run => run.meanMs))
  const p99Ms = mean(runs.map(run => run.p99Ms))
  return [
    near('mean, ms', { theirs: 4_113, ours: meanMs, within: 0.15, unit: 'ms' }),
    between('p99, ms', { from: 20_000, to: 200_000, ours: p99Ms, theirs: '> 25,000', unit: 'ms' }),
  ]
}

/** So many jobs wait more than ten minutes each: a thousand times longer than a job takes on average. */
const NO_END = 5_000

/** Of all runs: chance may spare one. */
const OFTEN = 0.9

function impatience(effort: Effort): Finding[] {
  const seeds = seedsOf(effort === 'quick' ? 5 : 20)
  const endless = (group: QueueSpec['group']): number => {
    const isEndless = seeds.map(seed => {
      const spec = { serviceMs: bimodalJob, group, durationMs: 5_000_000 }
      const { perStep } = runScenario(queue(spec), { seed }).dependencies['server']!
      const half = perStep.queue.slice(perStep.queue.length / 2)
      return slopeOf(half) > 0 && half.at(-1)! > NO_END
    })
    return mean(isEndless.map(Number))
  }
  const [impatient, patient] = [endless({ ...bimodalLoad, pipeline: 'again', lateMs: 15_000 }), endless(bimodalLoad)]
  return [
    holds('time-out 15 s: the queue grows without end', {
      isSo: impatient >= OFTEN,
      theirs: 'yes',
      ours: `in ${impatient * 100} % of runs`,
      measured: { unit: 'share', ours: impatient, least: OFTEN },
    }),
    holds('no time-out: it does not', {
      isSo: patient === 0,
      theirs: 'it does not',
      ours: `in ${patient * 100} % of runs`,
      measured: { unit: 'share', ours: patient, most: 0 },
    }),
  ]
}

/** Of the line that is nearest to all values (least squares), per step. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const squares = values.reduce((sum, _, place) => sum + (place - middle) ** 2, 0)
  return values.reduce((sum, value, place) => sum + value * (place - middle), 0) / squares
}

const OPEN_OR_CLOSED = 'Brooker, Open and closed, omission and collapse, 2023 (his program)'

export const queueing: readonly Reproduction[] = [
  {
    name: 'queues',
    source: 'Erlang, 1917; Pollaczek and Khinchine, 1930–1932',
    inputs: 'Poisson arrivals; 1, 2, 10 and 100 servers at 0.8 to 0.95 of their capacity',
    run: queues,
  },
  {
    name: 'open-and-closed',
    source: OPEN_OR_CLOSED,
    inputs: 'one server, jobs of Exp(0.1 s), load 0.8: open, and ten clients that think for Exp(1.145 s)',
    run: openAndClosed,
  },
  {
    name: 'bimodal',
    source: OPEN_OR_CLOSED,
    inputs: 'one job in a thousand is Exp(10 s); load 0.8, open',
    run: bimodal,
  },
  {
    name: 'impatience',
    source: OPEN_OR_CLOSED,
    inputs: 'the same; a job that took longer than 15 s is asked for again when it is done',
    run: impatience,
  },
]
