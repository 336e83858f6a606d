import type { Destination, Hold, Replay } from '@secondwind/client'
import { sayHold } from '../destinations/say-gates.ts'
import type { RemoteCall } from '../remote/remote-command.ts'
import { openGate } from '../steering/open-gate.ts'

export interface HeldBack {
  readonly say: string
  /** Beside a bar, where there is little room: what holds the first of them. */
  readonly note: string
  readonly next: readonly string[]
}

/** Gates that stay shut for longer than a look. */
const LASTING: readonly Hold['reason'][] = ['paused', 'kill-switch', 'breaker-open', 'probing', 'retry-after']
/** A replay may go to many: the first ones say what is the matter. */
const LOOKED_AT = 5

/** What keeps a replay that goes on from sending, where its destinations are held. */
export async function heldBack({ client, clock, typed }: RemoteCall, replay: Replay): Promise<HeldBack | undefined> {
  if (replay.status !== 'RUNNING' && replay.status !== 'CANARY') return undefined
  const names = replay.destinations.slice(0, LOOKED_AT)
  const found = await Promise.all(names.map(name => client.destinations.get(name)))
  // A task that is replayed is a first attempt again.
  const held = found.flatMap(({ destination, hold: whole, kindHolds }: Destination) => {
    const hold = whole ?? kindHolds?.first
    return hold !== undefined && LASTING.includes(hold.reason) ? [{ destination, hold }] : []
  })
  const [first] = held
  if (first === undefined) return undefined
  return {
    note: `held by ${first.hold.reason}${first.hold.because === undefined ? '' : `: ${first.hold.because}`}`,
    say: held.map(({ destination, hold }) => `${destination} is held by ${sayHold(hold, clock.now())}.`).join(' '),
    next: held.flatMap(({ destination, hold }) => openGate(hold, destination, typed) ?? []),
  }
}
