/**
 * Fair shares of a number of slots: slots are divided, not starts, so that whoever holds them long has no more of them.
 *
 *  1. The next slot goes to the tenant with the fewest, then to its lane with the fewest; ties to the one unserved longest.
 *  2. A tenant takes at most nine times the slots then free, a lane at most nine times those that its tenant may still
 *     take. So a newcomer finds a slot at once while busy tenants have equal parts and are ≤ (slots − 1) / 9, and the next that
 *     ends otherwise.
 *  3. Only who is ready is asked: work is due, and the lane's own gates are open. What a lane may have at most is no
 *     matter of fairness, and not looked at here.
 *
 * A batch is filled slot by slot, by heaps: a slot costs the logarithm of those who are ready, however many there are.
 * Whoever needs several at once, such as bytes, takes them all or none. The state is changed in place.
 */
import { Heap, NOWHERE, type Placed } from './heap.ts'

export interface Shares<Lane> {
  readonly slots: number
  /** Slots that are taken. */
  taken: number
  /** Grows with every slot that is given, and with everybody who joins: who was served, or came, earlier waits longer. */
  round: number
  readonly tenants: Map<string, TenantShare<Lane>>
  /** Tenants with a lane that is ready. */
  readonly ready: Heap<TenantShare<Lane>>
}

export interface TenantShare<Lane> extends Placed {
  readonly tenant: string
  taken: number
  servedAt: number
  /** Lanes that somebody may still give a slot to, or take one back from. */
  lanes: number
  readonly ready: Heap<LaneShare<Lane>>
}

export interface LaneShare<Lane> extends Placed {
  /** Whose it is: whatever the caller knows lanes by. */
  readonly lane: Lane
  readonly tenant: TenantShare<Lane>
  taken: number
  servedAt: number
}

/** Nine parts to those who are there, one to who may come. */
const MOST_TIMES_FREE = 9

export function newShares<Lane>(slots: number): Shares<Lane> {
  return { slots, taken: 0, round: 0, tenants: new Map(), ready: new Heap<TenantShare<Lane>>(goesBefore) }
}

/** A lane's share, to begin with none; to be given up by `leaveShares`. */
export function joinShares<Lane>(shares: Shares<Lane>, name: string, lane: Lane): LaneShare<Lane> {
  const servedAt = ++shares.round
  let tenant = shares.tenants.get(name)
  if (tenant === undefined) {
    tenant = {
      tenant: name,
      taken: 0,
      servedAt,
      lanes: 0,
      ready: new Heap<LaneShare<Lane>>(goesBefore),
      place: NOWHERE,
    }
    shares.tenants.set(name, tenant)
  }
  tenant.lanes++
  return { lane, tenant, taken: 0, servedAt, place: NOWHERE }
}

/** The lane is gone. Slots that it still has are given back as they end. */
export function leaveShares<Lane>(shares: Shares<Lane>, lane: LaneShare<Lane>): void {
  setReady(shares, lane, false)
  lane.tenant.lanes--
  forgetIdle(shares, lane.tenant)
}

/** Whether the lane has something to start. */
export function setReady<Lane>(shares: Shares<Lane>, lane: LaneShare<Lane>, isReady: boolean): void {
  const { tenant } = lane
  if (isReady) tenant.ready.add(lane)
  else tenant.ready.remove(lane)
  if (tenant.ready.size > 0) shares.ready.add(tenant)
  else shares.ready.remove(tenant)
}

export function isReady({ place }: Placed): boolean {
  return place !== NOWHERE
}

/** Whose turn it is; undefined when nobody is ready, or those who are have as much as they may. */
export function nextLane<Lane>(shares: Shares<Lane>): LaneShare<Lane> | undefined {
  const passedOver: TenantShare<Lane>[] = []
  let lane: LaneShare<Lane> | undefined
  // Those who are passed over have nine slots or more: there are never many.
  for (let tenant = shares.ready.first; tenant !== undefined; tenant = shares.ready.first) {
    const left = leftFor(shares, tenant)
    if (left <= 0) break // all others have as many or more
    const first = tenant.ready.first!
    if (first.taken < MOST_TIMES_FREE * left) {
      lane = first
      break
    }
    shares.ready.remove(tenant)
    passedOver.push(tenant)
  }
  for (const tenant of passedOver) shares.ready.add(tenant)
  return lane
}

export function takeSlot<Lane>(shares: Shares<Lane>, lane: LaneShare<Lane>, count: number = 1): void {
  const { tenant } = lane
  tenant.servedAt = lane.servedAt = ++shares.round
  change(shares, lane, count)
}

export function giveSlotBack<Lane>(shares: Shares<Lane>, lane: LaneShare<Lane>, count: number = 1): void {
  change(shares, lane, -count)
  forgetIdle(shares, lane.tenant)
}

/** What is free, and what a lane and all lanes of its tenant have. */
export interface Holding {
  readonly free: number
  readonly ofTenant: number
  readonly ofLane: number
}

/** How many slots in a row a lane could take, if nobody else took any. */
export function mostFor({ free, ofTenant, ofLane }: Holding): number {
  return inARow(inARow(free, ofTenant), ofLane)
}

/** Whether one lane's turn comes before another's. */
export function isBefore<Lane>(left: LaneShare<Lane>, right: LaneShare<Lane>): boolean {
  return left.tenant === right.tenant ? goesBefore(left, right) : goesBefore(left.tenant, right.tenant)
}

function leftFor<Lane>({ slots, taken }: Shares<Lane>, tenant: TenantShare<Lane>): number {
  return inARow(slots - taken, tenant.taken)
}

/** Each needs fewer than nine times those then free. */
function inARow(free: number, taken: number): number {
  return Math.min(free, Math.ceil((MOST_TIMES_FREE * free - taken) / (MOST_TIMES_FREE + 1)))
}

type Served = Pick<LaneShare<unknown>, 'taken' | 'servedAt'>

function goesBefore(left: Served, right: Served): boolean {
  return left.taken === right.taken ? left.servedAt < right.servedAt : left.taken < right.taken
}

function change<Lane>(shares: Shares<Lane>, lane: LaneShare<Lane>, by: number): void {
  const { tenant } = lane
  shares.taken += by
  tenant.taken += by
  lane.taken += by
  tenant.ready.moved(lane)
  shares.ready.moved(tenant)
}

function forgetIdle<Lane>(shares: Shares<Lane>, tenant: TenantShare<Lane>): void {
  if (tenant.lanes === 0 && tenant.taken === 0) shares.tenants.delete(tenant.tenant)
}
