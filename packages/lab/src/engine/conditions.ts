import { drawsOf } from '../chance/draws.ts'
import type { Die } from '../chance/streams.ts'
import type { Dependency, Trouble } from '../scenario/scenario.ts'
import type { Condition } from './station.ts'

/** How a replica is at an instant: as usual, with all troubles of that instant on top. */
export function conditionAt(dependency: Dependency, replica: string | undefined, now: number, die: Die): Condition {
  const own = (dependency.troubles ?? []).filter(
    trouble => trouble.replica === undefined || trouble.replica === replica,
  )
  const present = own.filter(({ fromMs, untilMs }) => fromMs <= now && now < untilMs)
  const past = own.filter(({ untilMs, capacity = 1 }) => untilMs <= now && capacity < 1)
  const errorMs = latest(present, 'errorMs') ?? dependency.errorMs
  return {
    speed: present.reduce((speed, { capacity = 1 }) => speed * capacity, 1),
    recoversFrom: Math.max(-Infinity, ...past.map(({ untilMs }) => untilMs)),
    errorRate: latest(present, 'errorRate') ?? dependency.errorRate ?? 0,
    errorMs: errorMs === undefined ? undefined : drawsOf(errorMs, die),
    isUnreachable: present.some(({ unreachable = false }) => unreachable),
    addedMs: present.reduce((sum, { addedMs = 0 }) => sum + addedMs, 0),
  }
}

/** The instants at which something changes. */
export function changesOf({ troubles = [] }: Dependency): number[] {
  return [...new Set(troubles.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]))]
}

function latest<Field extends keyof Trouble>(troubles: readonly Trouble[], field: Field): Trouble[Field] | undefined {
  return troubles.findLast(trouble => trouble[field] !== undefined)?.[field]
}
