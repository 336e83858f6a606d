import type { Client, Destination } from '@secondwind/client'
import type { RemoteCall } from '../remote/remote-command.ts'
import { openGate } from '../steering/open-gate.ts'
import { nameOf } from '../steering/watch-it.ts'
import { ENDS } from './standing-orders.ts'
import { stormOf } from './storm.ts'

/** Spares a destination that retries weigh on. It has an end: whoever forgets it has not stopped it for ever. */
export function spareIt(one: Destination, typed: RemoteCall['typed']): readonly string[] {
  const isSpared = one.hold !== undefined || one.retryHold?.reason === 'kill-switch'
  return isSpared ? [] : [typed('pause', nameOf(one), '--for', '30min')]
}

/** What can be done about a destination as it is: what undoes an order, or spares it; then where to look closer. */
export async function nextSteps(one: Destination, { client, typed, clock }: RemoteCall): Promise<readonly string[]> {
  const { destination, settings, hold, retryHold, exhausted, lastFailure, tenants = [] } = one
  const held = tenants.find(each => (each.hold ?? each.retryHold) !== undefined)
  const name = nameOf(one)
  const isForced = (settings?.forced?.breaker ?? 'auto') !== 'auto'
  const isStorm = stormOf([one], clock.now()) !== undefined
  const switches = [hold, retryHold].flatMap(gate => (gate?.reason === 'kill-switch' ? [gate] : []))
  return [
    ...(settings?.paused === undefined ? [] : await comeBack(one, client, typed)),
    ...(settings?.draining === undefined ? [] : [typed(...ENDS.draining(name))]),
    ...(isForced ? [typed(...ENDS.forced(name))] : []),
    ...switches.flatMap(gate => openGate(gate, name, typed) ?? []),
    ...(isStorm ? spareIt(one, typed) : []),
    ...(held?.tenant === undefined ? [] : [typed('destinations', 'get', destination, '--tenant', held.tenant)]),
    typed('tasks', 'list', '--destination', destination),
    ...(lastFailure === undefined ? [] : [typed('tasks', 'attempts', lastFailure.taskId)]),
    ...(exhausted > 0 ? [typed('dead', 'causes', '--destination', destination)] : []),
  ]
}

/** One task first, which passes the pause; then the others under a stop rule. */
async function comeBack(one: Destination, client: Client, typed: RemoteCall['typed']): Promise<readonly string[]> {
  const { destination, backlog } = one
  const { items } =
    backlog === 0 ? { items: [] } : await client.tasks.list({ destination, status: 'PENDING' }).page({ limit: 1 })
  return [
    ...items.map(({ taskId }) => typed('tasks', 'attempt-now', taskId, '--wait', '30s')),
    openGate({ reason: 'paused' }, nameOf(one), typed)!,
  ]
}
