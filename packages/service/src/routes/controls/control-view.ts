import type { Control as ShownControl, ControlPreview, Holds } from '@secondwind/client'
import type { Caller } from '../../access/caller.ts'
import type { KnownControl } from '../../steering/standing-orders.ts'
import type { HistoryStore, LanesPage } from '../../stores/store.ts'
import { isInForce, reaches, type Control } from '../../task/control.ts'
import { laneKey, laneOf } from '../../task/lane.ts'

export function controlView(control: KnownControl, now: number): ShownControl {
  return { ...control, isInForce: isInForce(control, now) }
}

/** Nobody can take it for a control: what only one that was written has is left out. */
export function previewOf(control: Control, holds: Holds): ControlPreview {
  const { controlId: _, createdAt: __, createdBy: ___, ...wanted } = control
  return { isPreview: true, ...wanted, holds }
}

/** Ten thousand destinations: whoever has more is told that there are more. */
const LANES_PER_PAGE = 200
const MOST_PAGES = 50

/**
 * What a control keeps waiting of the caller's own, or would: counters are kept by destination, so that it is at most so
 * many. How much other tenants have waiting is known to whoever runs the service alone.
 */
export async function holdsOf(
  control: Control,
  caller: Pick<Caller, 'tenant' | 'isForAll'>,
  store: Pick<HistoryStore, 'lanes'>,
): Promise<Holds> {
  const { level, scope } = control
  if (level === 'intake-off') return { lanes: 0, waitingTasks: 0, isExact: true }
  const which = lanesOf(control, caller.isForAll ? onlyTenantOf(control) : caller.tenant)
  let [lanes, waitingTasks] = [0, 0]
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const ask = { ...which, limit: LANES_PER_PAGE, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await store.lanes(ask)
    const waiting = items.filter(({ lane, pending }) => pending > 0 && reaches(control, laneOf(lane)))
    lanes += waiting.length
    waitingTasks += waiting.reduce((sum, { pending }) => sum + pending, 0)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  const areAllMeant = level === 'dispatch-off' && scope.kind !== 'policy'
  return { lanes, waitingTasks, isExact: areAllMeant && cursor === undefined }
}

/** Whose alone it reaches; absent: everybody's. */
function onlyTenantOf({ scope, tenant }: Control): string | undefined {
  if (scope.kind === 'tenant') return scope.tenant
  return scope.kind === 'all' ? undefined : tenant
}

/** Where to look for them: no more than has to be gone through. */
function lanesOf({ scope }: Control, tenant: string | undefined): Pick<LanesPage, 'tenant' | 'names' | 'destination'> {
  if (tenant === undefined) return scope.kind === 'destination' ? { destination: scope.destination } : {}
  if (scope.kind !== 'destination') return { tenant }
  return { tenant, names: [laneKey({ tenant, destination: scope.destination })] }
}
