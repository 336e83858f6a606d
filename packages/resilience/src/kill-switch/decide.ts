import { KILL_LEVELS, type KillLevel, type KillOrder, type KillScope } from './policy.ts'

/** How an operation can be named in an order: by its own name, by that of its pipeline, by its key there. */
export interface Named {
  readonly name: string
  readonly client?: string | undefined
  readonly key?: string | undefined
}

/** The strictest order that is in force for an operation. Nothing has to be done when one expires: it is asked. */
export function orderFor(orders: readonly KillOrder[], operation: Named, now: number): KillOrder | undefined {
  let strictest: KillOrder | undefined
  for (const order of orders)
    if (isInForce(order, now) && covers(order, operation) && strictness(order) > strictness(strictest))
      strictest = order
  return strictest
}

/** Whether a level forbids the next attempt of an operation that has made so many. */
export function forbids(level: KillLevel, attempts: number): boolean {
  return level === 'fail-fast' || (level === 'retries-off' && attempts > 0)
}

export function isInForce({ expiresAt = Infinity }: KillOrder, now: number): boolean {
  return now < expiresAt
}

/** The orders that remain when those of exactly this scope are taken away. */
export function without(orders: readonly KillOrder[], { name, key }: KillScope): KillOrder[] {
  return orders.filter(order => order.name !== name || order.key !== key)
}

function covers(order: KillScope, { name, client, key }: Named): boolean {
  return [undefined, name, client].includes(order.name) && [undefined, key].includes(order.key)
}

function strictness(order: KillOrder | undefined): number {
  return order === undefined ? -1 : KILL_LEVELS.indexOf(order.level)
}
