import { RefusedError, refuseProblems } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { accompanyAll, type Accompanied, type Companion, type Gate } from '../retry/companion.ts'
import { forbids, isInForce, orderFor, without } from './decide.ts'
import {
  checkKillOrder,
  checkKillScope,
  completeOrder,
  MOST_KILL_ORDERS,
  type KillLevel,
  type KillOrder,
  type KillOrderInput,
  type KillScope,
} from './policy.ts'

export interface KillSwitchOptions {
  readonly clock?: Clock
}

/** A switch of one's own, for tests and for whoever follows a remote one: given as a gate, or joined to the process. */
export function createKillSwitch({ clock = systemClock }: KillSwitchOptions = {}): KillSwitch {
  return new KillSwitch(clock)
}

export class KillSwitch implements Gate {
  readonly #clock: Clock
  readonly #operations = new Set<Accompanied>()
  #orders: readonly KillOrder[] = []
  #leave: (() => void) | undefined = undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In force at once: operations of its scope that wait, for an attempt or in a queue, end now if it forbids the next. */
  set(input: KillOrderInput): void {
    refuseProblems(checkKillOrder(input))
    const order = Object.freeze(completeOrder(input, this.#clock.now()))
    const orders = [...without(this.list(), order), order]
    if (orders.length > MOST_KILL_ORDERS)
      refuseProblems([
        { at: '', is: orders.length, say: `must be one of ${MOST_KILL_ORDERS} at most; clear some, or widen one` },
      ])
    this.#orders = orders
    for (const operation of this.#operations) {
      const refusal = this.refusalOf(operation)
      if (refusal !== undefined) operation.refuse(refusal)
    }
  }

  /** Takes back the order of exactly this scope; `{}` is the one for everything, `'all'` are all of them. */
  clear(scope: KillScope | 'all'): void {
    if (scope !== 'all') refuseProblems(checkKillScope(scope))
    this.#orders = scope === 'all' ? [] : without(this.#orders, scope)
  }

  /** The orders in force. */
  list(): readonly KillOrder[] {
    const now = this.#clock.now()
    return this.#orders.filter(order => isInForce(order, now))
  }

  /** The strictest level in force for operations of this name and key. Hedges are off at every level. */
  levelOf(name: string, key?: string): KillLevel | undefined {
    return orderFor(this.#orders, { name, key }, this.#clock.now())?.level
  }

  /**
   * Goes along with every operation of the process that begins from now on, until the returned function is called.
   * One that began before cannot be reached: join when the program starts.
   */
  join(): () => void {
    if (this.#leave === undefined) {
      const leave = accompanyAll(this)
      this.#leave = () => {
        leave()
        this.#leave = undefined
      }
    }
    return this.#leave
  }

  accompany(operation: Accompanied): Companion {
    const refusal = (): RefusedError | undefined => this.refusalOf(operation)
    return {
      enter: () => {
        this.#operations.add(operation)
        return refusal()
      },
      mayRetry: refusal,
      mayHedge: () => this.mayHedge(operation),
      over: () => void this.#operations.delete(operation),
    }
  }

  /** What an operation that wants to make its next attempt is to be told; undefined when it may. */
  refusalOf(operation: Accompanied): RefusedError | undefined {
    if (this.#orders.length === 0) return undefined
    const now = this.#clock.now()
    const order = this.#orderFor(operation, now)
    return order !== undefined && forbids(order.level, operation.attempts) ? refusalFor(order, now) : undefined
  }

  /** Every order forbids company, whatever else it does. */
  mayHedge(operation: Accompanied): boolean {
    return this.#orderFor(operation, this.#clock.now()) === undefined
  }

  #orderFor({ name, setup }: Accompanied, now: number): KillOrder | undefined {
    const { client, key } = setup.options
    return orderFor(this.#orders, { name, client, key }, now)
  }
}

class ProcessKillSwitch extends KillSwitch {
  override set(input: KillOrderInput): void {
    super.set(input)
    this.join()
  }
}

/**
 * The switch of the process. Pipelines ask it always; other operations do from its first order on, and those begun
 * before that go on unless `killSwitch.join()` was called when the program started.
 */
export const killSwitch: KillSwitch = /* @__PURE__ */ new ProcessKillSwitch(systemClock)

function refusalFor({ level, name, key, reason, expiresAt }: KillOrder, now: number): RefusedError {
  const whose = (name === undefined ? '' : ` named "${name}"`) + (key === undefined ? '' : ` with the key "${key}"`)
  const waitMs = expiresAt === undefined ? undefined : Math.ceil(expiresAt - now)
  const until = waitMs === undefined ? 'until it is cleared' : `for another ${waitMs} ms`
  return new RefusedError(
    'killed',
    `the kill switch is at ${level} for ${whose === '' ? 'all operations' : `operations${whose}`}, ${until}: ${reason}`,
    waitMs,
  )
}
