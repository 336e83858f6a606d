import type { Random } from '@secondwind/resilience'
import {
  endOf,
  isInScope,
  queuesOf,
  reaches,
  type Control,
  type ControlLevel,
  type ControlScope,
} from '../../task/control.ts'
import type { DestinationSettings } from '../../task/destination-settings.ts'
import { INLINE_POLICY } from '../../task/accept.ts'
import { EVERY_TENANT, laneKey, laneOf, laneOfAll, type Lane } from '../../task/lane.ts'
import { pick, type SeenRequest } from './scripted-target.test-kit.ts'
import type { World } from './world.test-kit.ts'

/** What is written is in force everywhere after so long. */
const IN_FORCE_MS = 2_000

interface OperatorsOptions {
  readonly world: World
  readonly lanes: readonly Lane[]
  /** Of every lane: settings only lower it. */
  readonly limit: number
  readonly random: Random
}

interface Written<Order> {
  readonly order: Order
  /** When the store had acknowledged it, in the world's time. */
  readonly at: number
}

/** People who throw the kill switch, pause, resume and set limits, at any moment; and who know what must follow. */
export class Operators {
  readonly #options: OperatorsOptions
  readonly #controls = new Map<string, Written<Control>>()
  readonly #settings = new Map<string, Written<DestinationSettings>>()

  constructor(options: OperatorsOptions) {
    this.#options = options
  }

  async act(): Promise<void> {
    const { random, lanes } = this.#options
    if (random() < 0.85) return
    const running = [...this.#controls.values()].find(({ order }) => order.endedAt === undefined)
    if (running !== undefined && random() < 0.5) await this.#end(running.order)
    else if (random() < 0.4) await this.#throwSwitch(pick(lanes, random))
    else await this.#set(laneKey({ ...pick(lanes, random), ...(random() < 0.3 && { tenant: EVERY_TENANT }) }))
  }

  /** Takes everything back. */
  async leave(): Promise<void> {
    for (const { order } of Array.from(this.#controls.values())) if (order.endedAt === undefined) await this.#end(order)
    for (const lane of Array.from(this.#settings.keys())) await this.#write(lane, { resumed: await this.#now() })
  }

  /** What a request should not have been sent against; undefined when there is nothing. */
  disobeyedBy({ at, delivery, idempotencyKey, destination }: SeenRequest, lane: string): string | undefined {
    const isObeyed = (written: Written<unknown>): boolean => at - written.at <= IN_FORCE_MS
    const kind = delivery.headers['retry-attempt'] === '1' ? 'first' : 'retry'
    const queue = { kind, policyId: INLINE_POLICY } as const
    for (const written of this.#controls.values()) {
      const { order } = written
      const isMeant = order.level !== 'intake-off' && reaches(order, laneOf(lane)) && isInScope(queuesOf(order), queue)
      if (isMeant && endOf(order) === Infinity && !isObeyed(written))
        return `${lane} was sent a ${kind} at ${order.level}`
    }
    for (const id of [laneOfAll(lane), lane]) {
      const settings = this.#settings.get(id)
      if (settings === undefined || isObeyed(settings)) continue
      const disobeyed = this.#against(settings.order, idempotencyKey, destination)
      if (disobeyed !== undefined) return disobeyed
    }
    return undefined
  }

  #against(
    { paused, forced, limits }: DestinationSettings,
    idempotencyKey: string,
    destination: string,
  ): string | undefined {
    const { world } = this.#options
    if (forced?.breaker === 'open') return `${destination} was sent something though its breaker is forced open`
    if (paused !== undefined && paused.until === undefined && !world.askedFor.has(idempotencyKey))
      return `${destination} was sent something though it is paused`
    const beside = [...world.destinations.open].filter(
      other => other.process.isUnhurt && other.destination === destination,
    )
    const isSet = limits?.concurrency !== undefined && beside.length >= limits.concurrency
    return isSet && isAlone(this.#options.lanes, destination)
      ? `${destination} was sent more than its new limit`
      : undefined
  }

  async #throwSwitch(lane: Lane): Promise<void> {
    const { random } = this.#options
    const scope = pick<ControlScope>(
      [
        { kind: 'all' },
        { kind: 'tenant', tenant: lane.tenant },
        { kind: 'policy', policyId: INLINE_POLICY },
        { kind: 'destination', destination: lane.destination },
      ],
      random,
    )
    const level = pick<ControlLevel>(['retries-off', 'dispatch-off'], random)
    const { since: createdAt, by: createdBy } = await this.#now()
    const controlId = `control-${this.#controls.size}`
    const control = {
      controlId,
      ...(random() < 0.5 && { tenant: 'acme' }),
      level,
      scope,
      reason: 'a storm',
      createdAt,
      createdBy,
      isByOperator: true,
    }
    await this.#writeControl(
      random() < 0.3 ? { ...control, expiresAt: createdAt + Math.floor(random() * 8_000) } : control,
    )
  }

  async #end(control: Control): Promise<void> {
    await this.#writeControl({ ...control, endedAt: (await this.#now()).since })
  }

  async #set(lane: string): Promise<void> {
    const { random, limit } = this.#options
    const by = await this.#now()
    const choices: (() => DestinationSettings)[] = [
      () => ({ paused: by }),
      () => ({ paused: { ...by, until: by.since + Math.floor(random() * 5_000) } }),
      () => ({ resumed: { ...by, rampMs: Math.floor(random() * 5_000), stopOnFailureRate: 0.5, overLast: 4 } }),
      () => ({ forced: { ...by, breaker: pick(['open', 'closed', 'auto'] as const, random) } }),
      () => ({ limits: { concurrency: 1 + Math.floor(random() * limit) } }),
      () => ({}),
    ]
    await this.#write(lane, pick(choices, random)())
  }

  async #writeControl(control: Control): Promise<void> {
    const { world } = this.#options
    // It may be obeyed, or no longer obeyed, from the moment it is on its way.
    this.#controls.set(control.controlId, { order: { ...control, endedAt: 0 }, at: 0 })
    await world.order('control', control.controlId, control)
    this.#controls.set(control.controlId, { order: control, at: world.clock.monotonic() })
  }

  async #write(lane: string, settings: DestinationSettings): Promise<void> {
    const { world } = this.#options
    this.#settings.delete(lane)
    await world.order('destination', lane, settings)
    this.#settings.set(lane, { order: settings, at: world.clock.monotonic() })
  }

  async #now(): Promise<{ readonly since: number; readonly by: string }> {
    return { since: (await this.#options.world.store.health()).now, by: 'operator' }
  }
}

/** A destination may be two tenants': each has its own limit. */
function isAlone(lanes: readonly Lane[], destination: string): boolean {
  return lanes.filter(lane => lane.destination === destination).length === 1
}
