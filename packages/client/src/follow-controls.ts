import { createKillSwitch, systemClock, type Clock, type KillOrder, type KillSwitch } from '@secondwind/resilience'
import { InvalidOptionError } from '@secondwind/resilience/fetch'
import type { Client } from './client.ts'
import type { ControlState } from './wire/control.ts'

export interface FollowControlsOptions {
  /** How often to ask: every two seconds unless told. */
  readonly everyMs?: number
  /** Which switch to set; left out, one of its own that all operations of the process obey. */
  readonly killSwitch?: KillSwitch
  /** Ends it. */
  readonly signal?: AbortSignal
  /** A look that failed: what was known before stays in force. */
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
}

export interface FollowedControls {
  /** Resolves after the first look, whether it succeeded or not. */
  readonly looked: Promise<void>
  readonly killSwitch: KillSwitch
  /** No further looks; what was in force here is taken back. */
  readonly stop: () => void
}

const EVERY_MS = 2_000

/**
 * The service's kill switch, in this process. Retries of its operations stop with those of the service: at `retries-off` and
 * at `dispatch-off`. First attempts are somebody's live traffic, and go on. While the service is away the last state stays.
 */
export function followControls(
  client: Pick<Client, 'controls'>,
  options: FollowControlsOptions = {},
): FollowedControls {
  const { everyMs = EVERY_MS, killSwitch = createKillSwitch(), signal, onProblem, clock = systemClock } = options
  if (!Number.isFinite(everyMs) || everyMs < 100)
    throw new InvalidOptionError('controls cannot be followed', [
      { at: 'everyMs', is: everyMs, say: 'must be 100 milliseconds or more' },
    ])
  const leave = options.killSwitch === undefined ? killSwitch.join() : () => {}
  const ended = new AbortController()
  let first = (): void => {}
  const looked = new Promise<void>(resolve => (first = resolve))
  const stop = (): void => {
    ended.abort()
    killSwitch.clear('all')
    leave()
    first()
  }
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  const follow = async (): Promise<void> => {
    while (!ended.signal.aborted) {
      try {
        const state = await client.controls.state({ signal: ended.signal })
        if (!ended.signal.aborted) obey(killSwitch, state, clock.now())
      } catch (error) {
        if (!ended.signal.aborted) onProblem?.(error)
      }
      first()
      await clock.sleep(everyMs, ended.signal).catch(() => undefined)
    }
  }
  void follow()
  return { looked, killSwitch, stop }
}

/** Never less than what is ordered in between: what stays is set before what is over is taken away. */
function obey(killSwitch: KillSwitch, { now: serviceNow, controls }: ControlState, now: number): void {
  const wanted = controls.flatMap(control => {
    if (control.level === 'intake-off') return []
    // Its instants are by the clock of the service.
    const expiresAt = control.expiresAt === undefined ? undefined : control.expiresAt - serviceNow + now
    return [{ ...scopeOf(control.scope), level: 'retries-off', reason: control.reason, expiresAt } as const]
  })
  const longest = new Map<string, KillOrder>()
  for (const order of wanted) {
    const known = longest.get(nameOf(order))
    if (known === undefined || (order.expiresAt ?? Infinity) > (known.expiresAt ?? Infinity))
      longest.set(nameOf(order), order)
  }
  for (const order of longest.values()) killSwitch.set(order)
  for (const { name, key } of killSwitch.list())
    if (!longest.has(nameOf({ name, key }))) killSwitch.clear({ name, key })
}

/** A policy is an operation's or a pipeline's name; a destination is a pipeline's key. */
function scopeOf(scope: ControlState['controls'][number]['scope']): Pick<KillOrder, 'name' | 'key'> {
  switch (scope.kind) {
    case 'all':
    case 'tenant':
      return {}
    case 'policy':
      return { name: scope.policyId }
    case 'destination':
      return { key: scope.destination }
  }
}

function nameOf({ name, key }: Pick<KillOrder, 'name' | 'key'>): string {
  return JSON.stringify([name, key])
}
