import { shares } from '@secondwind/resilience/rules'

/** Waiting tasks beyond these are refused. */
export interface BacklogLimits {
  readonly perLane: number
  /** Shared by all tenants: see `fullScope`. */
  readonly total: number
  /** Of a tenant's large bodies together; left out: as many as come. */
  readonly bodyBytes?: number
}

/** Tasks that wait when another one comes. */
export interface Waiting {
  readonly ofLane: number
  readonly ofTenant: number
  readonly inAll: number
}

/**
 * The lane has as many as it may; its tenant or itself has so many that the rest is kept for others; nothing is free; or so
 * many wait where its end is to be told.
 */
export type FullScope = 'lane' | 'share' | 'total' | 'callback'

/**
 * What a task finds no room in, if anything. The total is shared as slots are: of what is free a tenant takes nine tenths,
 * and a lane nine tenths of what its tenant could. So nobody who fills up its part shuts out the others, and whoever is
 * alone has most of it.
 */
export function fullScope(
  { ofLane, ofTenant, inAll }: Waiting,
  { perLane, total }: BacklogLimits,
): FullScope | undefined {
  if (ofLane >= perLane) return 'lane'
  // Retries come back without being asked, so that more may wait than the total says. Who asks for a dead letter is
  // refused as with a new task; a replay of many goes on once there is room.
  const free = total - inAll
  if (free <= 0) return 'total'
  return shares.mostFor({ free, ofTenant, ofLane }) > 0 ? undefined : 'share'
}

/**
 * The same for the lane in which the end of a task is to be told. An end cannot be refused, and one that finds no room in
 * that lane is kept beside it. Half of the lane is for those who came before: so no more are kept than were under way
 * when the other half was full.
 */
export function fullForCallback(waiting: Waiting, { perLane, total }: BacklogLimits): FullScope | undefined {
  return fullScope(waiting, { perLane: perLane / 2, total }) && 'callback'
}
