import type { Queue, QueueKind, Rank } from './task.ts'

/** A lane is tenant × destination; credit, budget, rate and limits are each lane's own. */
export interface Lane {
  readonly tenant: string
  readonly destination: string
}

/** A lane's name in stores, heaps and maps. Neither part can hold a space: a tenant is a word, a destination an origin. */
export function laneKey({ tenant, destination }: Lane): string {
  return `${tenant} ${destination}`
}

export function laneOf(key: string): Lane {
  const space = key.indexOf(' ')
  return { tenant: key.slice(0, space), destination: key.slice(space + 1) }
}

/** What stands for a tenant in what is nobody's own: keys and orders of whoever runs the service. No tenant has this name. */
export const EVERY_TENANT = '*'

/** The name under which an order for a destination is kept that holds for every tenant. */
export function laneOfAll(lane: string): string {
  return laneKey({ tenant: EVERY_TENANT, destination: laneOf(lane).destination })
}

/** A queue's name within its lane. The policy's name comes last, for it alone may hold anything. */
export function queueKey({ policyId, kind, rank }: Queue): string {
  return `${rank} ${kind} ${policyId}`
}

export function queueOf(key: string): Queue {
  const [rank, kind] = key.split(' ', 2) as [Rank, QueueKind]
  return { rank, kind, policyId: key.slice(rank.length + kind.length + 2) }
}

export const PARTITIONS = 256

/** The partition that a lane belongs to: FNV-1a, the same on every machine. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % PARTITIONS
}

/** Whether a caller asked for the next attempt; the one after it is like any other. */
export function isByHand(rank: Rank): boolean {
  return rank === 'urgent'
}

/** Ten minutes: replays yield to live traffic, and do not starve. */
const LOW_RANK_DELAY_MS = 600_000

/** When a task counts as due in the comparison of a lane's queues: `urgent` before all, `low` later. */
export function standingAt(rank: Rank, dueAt: number): number {
  switch (rank) {
    case 'urgent':
      return -Infinity
    case 'normal':
      return dueAt
    case 'low':
      return dueAt + LOW_RANK_DELAY_MS
  }
}
