import type { ControlEvent } from '@secondwind/client'
import type { KnownControl, StandingOrders } from '../steering/standing-orders.ts'
import { isInForce } from '../task/control.ts'
import type { EventStream, Told } from './stream/event-stream.ts'

interface ControlTidingsOptions {
  readonly orders: Pick<StandingOrders, 'controls'>
  readonly stream: Pick<EventStream, 'tell'>
  readonly now: () => number
}

/**
 * Tells what becomes of kill switches: one was thrown, was ended, or is over by itself. It looks at what was read, not at
 * who wrote it, so that every instance tells the same.
 */
export class ControlTidings {
  readonly #options: ControlTidingsOptions
  /** Whether each was in force at the latest look; absent before the first, which is no news. */
  #known: ReadonlyMap<string, boolean> | undefined

  constructor(options: ControlTidingsOptions) {
    this.#options = options
  }

  look(): void {
    const { orders, stream, now } = this.#options
    const at = now()
    const known = this.#known
    this.#known = new Map(orders.controls.map(control => [control.controlId, isInForce(control, at)]))
    if (known === undefined) return
    for (const control of orders.controls) {
      const isOn = isInForce(control, at)
      if (isOn !== (known.get(control.controlId) ?? false)) stream.tell(controlTold(control, isOn))
    }
  }
}

/** For whom it holds; for everybody where it is nobody's own. */
function controlTold(control: KnownControl, isOn: boolean): Told {
  const { tenant, ...told } = control
  const { scope } = told
  const data: Omit<ControlEvent, 'at'> = { ...told, isInForce: isOn }
  const whose = scope.kind === 'tenant' ? scope.tenant : scope.kind === 'all' ? undefined : tenant
  return {
    type: 'control',
    ...(whose !== undefined && { tenant: whose }),
    ...(scope.kind === 'destination' && { destination: scope.destination }),
    data,
  }
}
