import { meanOf } from '../chance/draws.ts'
import type { Past } from '../engine/run-world.ts'
import { DEFAULT_SCENARIO, type Dependency, type Scenario } from '../scenario/scenario.ts'
import { callsWithoutRetries } from './calls-without-retries.ts'
import type { Durations } from './durations.ts'
import type { LineMeter } from './line-meter.ts'
import { recoveryOf } from './recovery.ts'
import type { CallerMeasures, DependencyMeasures, LatencyMeasures, RunResult } from './result.ts'
import type { StationMeter } from './station-meter.ts'
import { largest, sum } from './totals.ts'

/** Reads off a world what has happened in it, from the end of the warm-up on. */
export function measure(scenario: Scenario, seed: number, { world, events, endedAtMs }: Past): RunResult {
  const { stepMs, warmUpMs } = { ...DEFAULT_SCENARIO, ...scenario }
  const span = { stepMs, from: Math.ceil(warmUpMs / stepMs), durationMs: scenario.durationMs }
  const clients = Object.fromEntries(world.groupMeters.map(meter => [meter.name, callerMeasures(meter, span)]))
  const asked = callsWithoutRetries(scenario, name => clients[name]!.operations)
  const dependencies = [...world.places].map(
    ([name, { dependency, meter }]) =>
      [name, dependencyMeasures({ dependency, meter, asked: asked.get(name) ?? 0 }, span)] as const,
  )
  const known = { clients, dependencies: Object.fromEntries(dependencies) }
  return {
    scenario: scenario.name,
    seed,
    durationMs: scenario.durationMs,
    stepMs,
    endedAtMs,
    events,
    ...known,
    tiers: Object.fromEntries(world.tierMeters.map(meter => [meter.name, callerMeasures(meter, span)])),
    recovery: recoveryOf(scenario, stepMs, known),
  }
}

interface Span {
  readonly stepMs: number
  /** The first step that counts. */
  readonly from: number
  readonly durationMs: number
}

function callerMeasures(meter: LineMeter, { from }: Span): CallerMeasures {
  const perStep = {
    begun: meter.begunPerStep,
    good: meter.goodPerStep,
    bad: meter.badPerStep,
    planned: meter.plannedPerStep,
  }
  const ended = meter.succeeded.count + meter.failed.count
  const unended = sum(perStep.begun) - sum(perStep.good) - sum(perStep.bad)
  return {
    operations: sum(perStep.begun.slice(from)),
    succeeded: meter.succeeded.count,
    unended,
    successShare: shareOf(meter.succeeded.count, ended + unended),
    reasons: meter.reasons,
    attemptsPerOperation: shareOf(meter.attempts, ended),
    latency: latencyMeasures(meter.succeeded),
    lastEndAtMs: meter.lastEndAtMs,
    perStep,
  }
}

/** None of nothing. */
function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

export function latencyMeasures(durations: Durations): LatencyMeasures {
  const at = (percentile: number): number => durations.percentileMs(percentile)
  return {
    count: durations.count,
    meanMs: durations.meanMs,
    varianceMs2: durations.variance,
    p50Ms: at(50),
    p90Ms: at(90),
    p95Ms: at(95),
    p99Ms: at(99),
    p999Ms: at(99.9),
    longestMs: durations.longestMs,
    distribution: durations.distribution(),
  }
}

interface Called {
  readonly dependency: Dependency
  readonly meter: StationMeter
  readonly asked: number
}

function dependencyMeasures({ dependency, meter, asked }: Called, span: Span): DependencyMeasures {
  const { stepMs, from, durationMs } = span
  const { perStep } = meter
  const total = (counts: readonly number[]): number => sum(counts.slice(from))
  const calls = perStep.first.map((first, step) => first + perStep.retries[step]! + perStep.hedges[step]!)
  const peak = largest(calls.slice(from))
  const capacityPerSecond = capacityOf(dependency)
  const perStepCapacity = ((capacityPerSecond ?? Infinity) * stepMs) / 1_000
  const workMs = total(perStep.workMs)
  const serverMs = serversOf(dependency) * (durationMs - from * stepMs)
  return {
    calls: total(calls),
    first: total(perStep.first),
    retries: total(perStep.retries),
    hedges: total(perStep.hedges),
    refused: total(perStep.refused),
    amplification: shareOf(total(calls), asked),
    peakPerSecond: (peak * 1_000) / stepMs,
    peakAtMs: Math.max(0, calls.indexOf(peak, from)) * stepMs,
    ...(capacityPerSecond !== undefined && { capacityPerSecond }),
    overCapacityMs: calls.slice(from).filter(count => count > perStepCapacity).length * stepMs,
    longestQueue: largest(perStep.queue.slice(from)),
    ...(serverMs !== Infinity && {
      utilisation: total(perStep.workMs.slice(0, Math.ceil(durationMs / stepMs))) / serverMs,
    }),
    workMs,
    wastedShare: shareOf(total(perStep.vainMs), workMs),
    perStep,
  }
}

/** Calls a second that its servers can work on when nothing is wrong; undefined when there is no end to them. */
export function capacityOf(dependency: Dependency): number | undefined {
  const meanMs = meanOf(dependency.serviceMs)
  const servers = serversOf(dependency)
  return servers === Infinity || meanMs === undefined || meanMs === 0 ? undefined : (servers * 1_000) / meanMs
}

function serversOf({ servers = Infinity, replicas }: Dependency): number {
  return servers * (replicas?.length ?? 1)
}
