import type { DeliveryScenario, Destination, TaskArrivals, TaskGroup } from './delivery.ts'

export const SECOND = 1_000
export const MINUTE: number = 60 * SECOND
export const HOUR: number = 60 * MINUTE

export function world(
  tasks: readonly TaskGroup[],
  destination: Destination = {},
  more: Partial<DeliveryScenario> = {},
): DeliveryScenario {
  return { kind: 'delivery', name: 'a world', durationMs: HOUR, tasks, destination, ...more }
}

export function tasks(count: number, arrivals: TaskArrivals, more: Partial<TaskGroup> = {}): TaskGroup {
  return { name: 'tasks', count, arrivals, ...more }
}

export function every(ms: number, fromMs = 0): TaskArrivals {
  return { kind: 'constant', perSecond: 1_000 / ms, fromMs }
}

export const AT_ONCE: TaskArrivals = { kind: 'together' }

export function downFor(untilMs: number, fromMs = 0): Destination {
  return { troubles: [{ kind: 'down', fromMs, untilMs }] }
}
