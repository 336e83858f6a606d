/** A scenario made into things that can happen: stations, the lines that lead to them, and what sets all in motion. */
import { replicas as replicasOf } from '@secondwind/resilience'
import { drawsOf, type Draw } from '../chance/draws.ts'
import { dieFor, type Die } from '../chance/streams.ts'
import { LineMeter } from '../measure/line-meter.ts'
import { StationMeter } from '../measure/station-meter.ts'
import type { ClientGroup, Dependency, Downstream, Network, Scenario, TimedKillOrder } from '../scenario/scenario.ts'
import { conditionAt, changesOf } from './conditions.ts'
import { Core, OF_OPERATION, OWNERS } from './core.ts'
import { Line } from './line.ts'
import { THROTTLED } from './outcomes.ts'
import { bareCall, compilePipeline, type Counted, type Pipeline } from './pipeline.ts'
import { Process } from './process.ts'
import { BIRTH, LOOP, PARENT, PARENT_BIRTH, ROUTE, STARTED_AT, WIDTH } from './rows.ts'
import { ClosedSource, Timeline, type Source, type TimelineEntry } from './sources.ts'
import { sourceOf } from './source-of.ts'
import { Station } from './station.ts'
import { Target } from './target.ts'
import { Tier } from './tier.ts'
import { WaitingRoom } from './waiting-room.ts'

export interface WorldOptions {
  readonly seed: number
  /** Other ways to count retries, by pipeline: what somebody else has published, for comparison. */
  readonly budgets?: { readonly [pipeline: string]: Counted }
}

/** A dependency's stations, one for each replica, and what counts their calls. */
interface Place {
  readonly dependency: Dependency
  readonly stations: readonly Station[]
  readonly meter: StationMeter
}

export class World {
  readonly core: Core = new Core()
  readonly lines: Line[] = []
  /** Of client groups by their names, and of tiers by `from → to`. */
  readonly groupMeters: LineMeter[] = []
  readonly tierMeters: LineMeter[] = []
  readonly places: Map<string, Place> = new Map<string, Place>()
  readonly sources: Source[] = []
  /** Which source each event belongs to, and where its events begin. */
  readonly sourceFirsts: number[] = []
  readonly #scenario: Scenario
  readonly #options: WorldOptions
  readonly #entries: TimelineEntry[] = []
  /** The tier of each line of a dependency; undefined for those of clients. */
  readonly #tiers: (Tier | undefined)[] = []
  readonly #loops: { readonly first: number; readonly source: ClosedSource }[] = []
  #events = 0

  constructor(scenario: Scenario, options: WorldOptions) {
    this.#scenario = scenario
    this.#options = options
    for (const [name, dependency] of Object.entries(scenario.dependencies)) this.#addPlace(name, dependency)
    for (const order of scenario.killOrders ?? [])
      this.#entries.push({ atMs: order.atMs, act: () => this.#kill(order) })
    const entries = this.#entries
    if (entries.length > 0) this.#addSource(first => new Timeline(this.core, first, entries), entries.length)
    for (const group of scenario.clients) this.#addGroup(group)
  }

  /** The source of an event, by number. */
  sourceAt(event: number): number {
    let source = this.sourceFirsts.length - 1
    while (this.sourceFirsts[source]! > event) source--
    return source
  }

  #die(...purpose: readonly string[]): Die {
    return dieFor(this.#options.seed, purpose.join('/'))
  }

  #addPlace(name: string, dependency: Dependency): void {
    const meter = new StationMeter(this.core.clock)
    const stations: Station[] = []
    this.places.set(name, { dependency, stations, meter })
    const replicas = dependency.replicas ?? [{ name }]
    for (const replica of replicas) {
      const chance = (what: string): Die => this.#die(what, name, replica.name)
      const errors = chance('errors')
      const station = this.#station(name, dependency, { chance, meter, station: () => station, errors })
      stations.push(station)
      for (const atMs of changesOf(dependency))
        this.#entries.push({ atMs, act: () => station.change(conditionAt(dependency, replica.name, atMs, errors)) })
    }
  }

  #station(name: string, dependency: Dependency, own: StationParts): Station {
    const { servers = Infinity, serviceMsPerCall = 0, queue = {}, cancels = false, slowStartMs = 0 } = dependency
    const spec = {
      servers,
      serviceMs: drawsOf(dependency.serviceMs, own.chance('service')),
      serviceMsPerCall,
      room: new WaitingRoom(this.core.calls, queue),
      dropsExpired: queue.dropsExpired ?? false,
      cancels,
      isContended: dependency.contention === 'optimistic',
      slowStartMs,
      tier: this.#tier(name, dependency, own),
      refusal: this.#refusal(dependency),
      die: own.errors,
      meter: own.meter,
      answer: (call: number) => this.#lineOf(call).deliver(call),
      comeAgain: (call: number) => this.#lineOf(call).comeAgain(call),
    }
    return new Station(this.core, spec, conditionAt(dependency, undefined, -1, own.errors))
  }

  #refusal({ retryAfterMs }: Dependency): number {
    if (retryAfterMs === undefined) return THROTTLED
    return this.core.outcomes.push({ kind: 'failure', fault: 'throttled', retryAfterMs }) - 1
  }

  #tier(name: string, { downstream = [], downstreamOrder }: Dependency, own: StationParts): Tier | undefined {
    if (downstream.length === 0) return undefined
    const steps = downstream.flatMap(spec => {
      const { processes = 1, passesDeadline = false, times = 1 } = spec
      let line: Line | undefined
      const lazily = (): Line => (line ??= this.#addTierLine(name, spec, tier))
      return Array.from({ length: times }, () => ({ line: lazily, processes, passesDeadline }))
    })
    const returned = (call: number, isWell: boolean): void => own.station().returned(call, isWell)
    const tier: Tier = new Tier(this.core, { steps, isParallel: downstreamOrder === 'parallel', returned })
    return tier
  }

  #addTierLine(from: string, spec: Downstream, tier: Tier): Line {
    const name = `${from} → ${spec.calls}`
    const known = this.tierMeters.find(other => other.name === name)
    const meter = known ?? new LineMeter(name, this.core.clock)
    if (known === undefined) {
      meter.beginStep(this.core.clock.step)
      this.tierMeters.push(meter)
    }
    return this.#addLine({ ...spec, name, processes: spec.processes ?? 1 }, meter, tier)
  }

  #addGroup(group: ClientGroup): void {
    const { name, arrivals, count = 1, processes = count } = group
    const meter = new LineMeter(name, this.core.clock)
    this.groupMeters.push(meter)
    const line = this.#addLine({ ...group, processes }, meter, undefined)
    const isClosed = arrivals.kind === 'closed' || arrivals.kind === 'together'
    this.#addSource(
      first => {
        const common = { core: this.core, line, first, processes, untilMs: this.#scenario.durationMs }
        const source = sourceOf(common, group, what => this.#die(what, name))
        if (source instanceof ClosedSource) this.#loops.push({ first, source })
        return source
      },
      isClosed ? count : 1,
    )
  }

  #addSource(make: (first: number) => Source, events: number): void {
    this.sourceFirsts.push(this.#events)
    this.sources.push(make(this.#events))
    this.#events += events
  }

  #addLine(spec: LineParts, meter: LineMeter, tier: Tier | undefined): Line {
    const index = this.#tiers.push(tier) - 1
    const pipeline = this.#pipeline(spec)
    const { core } = this
    const line = new Line(core, {
      index,
      pipeline,
      processes: Array.from({ length: spec.processes }),
      makeProcess: this.#processMaker(spec, pipeline),
      target: this.#target(spec, index),
      meter,
      lateMs: spec.lateMs ?? Infinity,
      die: this.#die('retry', spec.name),
      onEnd: tier === undefined ? row => this.#resume(row) : (row, isWell) => this.#return(tier, row, isWell),
    })
    this.lines[index] = line
    return line
  }

  #pipeline({ pipeline: name, adaptiveTimeout }: LineParts): Pipeline {
    if (name === undefined) return bareCall('one call')
    const document = this.#scenario.pipelines![name]!
    return compilePipeline(document, { name, adaptiveTimeout, budget: this.#options.budgets?.[name] })
  }

  #processMaker({ name }: LineParts, pipeline: Pipeline): () => Process {
    const { core } = this
    const ports = {
      operations: core.operations,
      die: this.#die('gates', name),
      wake: (operation: number) => core.agenda.set(operation * OWNERS + OF_OPERATION, core.clock.now),
      permits: core.permits,
    }
    return () => new Process(pipeline, ports, core.clock.now)
  }

  #target({ name, calls, network, region }: LineParts, route: number): Target {
    const { dependency, stations } = this.places.get(calls)!
    const die = this.#die('network', name)
    const { replicas } = dependency
    return new Target(this.core, {
      route,
      stations,
      delaysMs: network && delaysTo(network, dependency, region, die),
      loss: network?.loss ?? 0,
      die,
      replicas: replicas && replicasOf(replicas, { ...homeOf(dependency, region), ports: { random: () => 0 } }).policy,
    })
  }

  #lineOf(call: number): Line {
    return this.lines[this.core.calls.data[call * WIDTH + ROUTE]!]!
  }

  /** An operation of a client has ended. */
  #resume(row: number): void {
    const { data } = this.core.operations
    const loop = data[row + LOOP]!
    if (loop < 0) return
    const { first, source } =
      this.#loops.length === 1 ? this.#loops[0]! : this.#loops.findLast(known => known.first <= loop)!
    source.resume(loop - first, data[row + STARTED_AT]!)
  }

  /** An operation of a tier has ended; whoever waited for it may have been cancelled. */
  #return(tier: Tier, row: number, isWell: boolean): void {
    const { operations, calls } = this.core
    const call = operations.data[row + PARENT]!
    if (calls.data[call * WIDTH + BIRTH] === operations.data[row + PARENT_BIRTH]!) tier.ended(call, isWell)
  }

  #kill({ level, untilMs: expiresAt, pipeline: name }: TimedKillOrder): void {
    this.core.killOrders = [...this.core.killOrders, { level, reason: 'the scenario says so', expiresAt, name }]
  }
}

interface StationParts {
  readonly chance: (what: string) => Die
  readonly errors: Die
  readonly meter: StationMeter
  readonly station: () => Station
}

type LineParts = Pick<
  ClientGroup,
  'name' | 'calls' | 'pipeline' | 'network' | 'region' | 'lateMs' | 'adaptiveTimeout'
> & {
  readonly processes: number
}

function delaysTo(network: Network, { replicas = [] }: Dependency, region: string | undefined, die: Die): Draw[] {
  const { delayMs, betweenRegionsMs = delayMs } = network
  const near = drawsOf(delayMs, die)
  const far = drawsOf(betweenRegionsMs, die)
  if (replicas.length === 0) return [near]
  return replicas.map(replica => (region === undefined || replica.region === region ? near : far))
}

function homeOf({ replicas = [] }: Dependency, region: string | undefined): { readonly home?: string } {
  return region !== undefined && replicas.some(replica => replica.region === region) ? { home: region } : {}
}
