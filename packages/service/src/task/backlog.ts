import { shares } from '@secondwind/resilience/rules'

/** Waiting tasks beyond these are refused. */
export interface BacklogLimits {
  readonly perLane: number
  /** Shared by all tenants: see `fullScope`. */
  readonly total: number
  /** Lanes with a task that waits or is under way, shared by all tenants; left out: as many as come. */
  readonly lanes?: number
  /** Of a tenant's large bodies together; left out: as many as come. */
  readonly bodyBytes?: number
}

/** Tasks that wait when another one comes. */
export interface Waiting {
  readonly ofLane: number
  readonly ofTenant: number
  readonly inAll: number
  readonly lanes: OpenLanes
}

/** Lanes with a task that waits or is under way: each is served, and costs memory however few its tasks are. */
export interface OpenLanes {
  /** Whether the task's own is one of them. */
  readonly isOpen: boolean
  readonly ofTenant: number
  readonly inAll: number
}

/**
 * The lane has as many as it may; its tenant or itself has so many that the rest is kept for others; nothing is free; as
 * many lanes are open as may; or so many wait where its end is to be told.
 */
export type FullScope = 'lane' | 'share' | 'total' | 'lanes' | 'callback'

/**
 * What a task finds no room in, if anything. The total is shared as slots are: of what is free a tenant takes nine tenths,
 * and a lane nine tenths of what its tenant could. So nobody who fills up its part shuts out the others, and whoever is
 * alone has most of it.
 */
export function fullScope(
  { ofLane, ofTenant, inAll, lanes }: Waiting,
  { perLane, total, lanes: mostLanes = Infinity }: BacklogLimits,
): FullScope | undefined {
  if (ofLane >= perLane) return 'lane'
  // Retries come back without being asked, so that more may wait than the total says. Who asks for a dead letter is
  // refused as with a new task; a replay of many goes on once there is room.
  const free = total - inAll
  if (free <= 0) return 'total'
  if (shares.mostFor({ free, ofTenant, ofLane }) <= 0) return 'share'
  return mayOpen(lanes, mostLanes) ? undefined : 'lanes'
}

/** A lane that is open already needs no more room; another is one of those that tenants share. */
function mayOpen({ isOpen, ofTenant, inAll }: OpenLanes, mostLanes: number): boolean {
  return isOpen || shares.mostFor({ free: mostLanes - inAll, ofTenant, ofLane: 0 }) > 0
}

/**
 * The same for the lane in which the end of a task is to be told. An end cannot be refused, and one that finds no room in
 * that lane is kept beside it. Half of the lane is for those who came before: so no more are kept than were under way
 * when the other half was full.
 */
export function fullForCallback(waiting: Waiting, limits: BacklogLimits): FullScope | undefined {
  return fullScope(waiting, { ...limits, perLane: limits.perLane / 2 }) && 'callback'
}
