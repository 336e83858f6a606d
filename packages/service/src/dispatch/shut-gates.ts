import { laneKind } from '@secondwind/resilience/rules'
import { endOf, isInScope } from '../task/control.ts'
import type { Shut } from '../task/held.ts'
import { isHeldBy, type GateReason } from '../task/lane-view.ts'
import { endOfPause, type Orders } from '../task/orders.ts'
import type { Queue, QueueKind } from '../task/task.ts'
import type { Openings } from './share.ts'

/** A gate that lets a probe pass, or fills the one slot that became free, has not opened for those who wait. */
const FLICKER_MS = 1_000

interface Shutting {
  readonly by: GateReason
  since: number
  until: number
}

/**
 * When each gate of a lane was shut last: a task whose deadline came behind one says which. It may be claimed only after that
 * gate has opened and others have shut, and nothing else remembers it then.
 */
export class ShutGates {
  readonly #ofKind: { readonly [kind in QueueKind]: Map<GateReason, Shutting> } = {
    first: new Map(),
    retry: new Map(),
    late: new Map(),
  }

  /** As a look at the lane finds it. */
  note({ allowed: { hold, kindHolds } }: Pick<Openings, 'allowed'>, now: number): void {
    for (const kind of laneKind.START_KINDS) {
      const reason = (hold ?? kindHolds[kind])?.reason
      const gates = this.#ofKind[kind]
      for (const gate of gates.values()) if (gate.until === Infinity && gate.by !== reason) gate.until = now
      if (reason !== undefined) shut(gates, reason, now)
    }
  }

  /** Those that a queue stands, or stood, behind. Switches for some queues of a lane remember themselves when they end. */
  of(queue: Queue, { queues, pauses }: Pick<Orders, 'queues' | 'pauses'>): readonly Shut[] {
    const ofKind = [...this.#ofKind[queue.kind].values()].filter(({ by }) => isHeldBy(by, queue.rank))
    const ordered = pauses.flatMap((pause): Shut[] =>
      pause.isByOperator ? [{ by: 'paused', since: pause.since, until: endOfPause(pause) }] : [],
    )
    const own = queues.flatMap(({ scope, control }): Shut[] =>
      isInScope(scope, queue) ? [{ by: 'kill-switch', since: control.createdAt, until: endOf(control) }] : [],
    )
    return [...ofKind.map(gate => ({ ...gate })), ...ordered, ...own]
  }
}

function shut(gates: Map<GateReason, Shutting>, by: GateReason, now: number): void {
  const known = gates.get(by)
  if (known?.until === Infinity) return
  if (known === undefined || now - known.until > FLICKER_MS) gates.set(by, { by, since: now, until: Infinity })
  else known.until = Infinity
}
