/**
 * Room for large bodies in memory, in fair shares: those of slots, with bytes for slots.
 *
 *  1. The next room goes to the tenant with the fewest bytes, then to its lane with the fewest; ties to the one unserved
 *     longest. Within a lane, to whoever came first.
 *  2. Some is always kept for others, of other tenants and of other lanes. One body alone has room, however large it is.
 *  3. Who does not fit is passed over, and only by what would fit beside it: it waits for those who were there before it
 *     came, and for nobody else.
 *
 * The state is changed in place.
 */
import { shares } from '@secondwind/resilience/rules'
import { laneKey, type Lane } from '../task/lane.ts'

export interface Room {
  readonly shares: shares.Shares<string>
  /** By lane: those that have something here, or wait for room. */
  readonly lines: Map<string, Line>
  readonly held: Set<Place>
}

/** A lane, as far as it has large bodies. */
interface Line {
  readonly key: string
  readonly share: shares.LaneShare<string>
  readonly waiting: Place[]
  held: number
}

/** What one body needs: first waited for, then held. */
export interface Place {
  readonly line: Line
  readonly bytes: number
  /** The round in which it came, or was given room. */
  since: number
}

export function newRoom(mostBytes: number): Room {
  return { shares: shares.newShares(mostBytes), lines: new Map(), held: new Set() }
}

/** Stands in line, until `nextPlace` says that it has room. */
export function askForRoom(room: Room, lane: Lane, bytes: number): Place {
  const line = lineOf(room, lane)
  const place = { line, bytes, since: room.shares.round }
  line.waiting.push(place)
  shares.setReady(room.shares, line.share, true)
  return place
}

/** Gives room to whoever's turn it is. Undefined when nobody waits, or those who do have to go on waiting. */
export function nextPlace(room: Room): Place | undefined {
  const inTurn = room.shares.ready.first?.ready.first
  if (inTurn === undefined) return undefined
  const first = room.lines.get(inTurn.lane)!.waiting[0]!
  const place = fits(room, first) ? first : whoMayPass(room, first)
  if (place !== undefined) take(room, place)
  return place
}

export function leaveRoom(room: Room, place: Place): void {
  const { line, bytes } = place
  room.held.delete(place)
  line.held--
  shares.giveSlotBack(room.shares, line.share, bytes)
  forgetIdle(room, line)
}

/** Stands in line no longer, and was given nothing. */
export function leaveLine(room: Room, place: Place): void {
  const { line } = place
  line.waiting.splice(line.waiting.indexOf(place), 1)
  if (line.waiting.length > 0) return
  shares.setReady(room.shares, line.share, false)
  forgetIdle(room, line)
}

function lineOf(room: Room, lane: Lane): Line {
  const key = laneKey(lane)
  let line = room.lines.get(key)
  if (line === undefined) {
    line = { key, share: shares.joinShares(room.shares, lane.tenant, key), waiting: [], held: 0 }
    room.lines.set(key, line)
  }
  return line
}

function forgetIdle(room: Room, line: Line): void {
  if (line.held > 0 || line.waiting.length > 0) return
  room.lines.delete(line.key)
  shares.leaveShares(room.shares, line.share)
}

function fits({ shares: { slots, taken } }: Room, { bytes, line: { share } }: Place): boolean {
  const holding = { free: slots - taken, ofTenant: share.tenant.taken, ofLane: share.taken }
  return taken === 0 || bytes <= shares.mostFor(holding)
}

function whoMayPass(room: Room, first: Place): Place | undefined {
  const passed = passedBy(room, first)
  const others = [...room.lines.values()].filter(line => line !== first.line && line.waiting.length > 0)
  return others
    .toSorted((left, right) => (shares.isBefore(left.share, right.share) ? -1 : 1))
    .map(({ waiting }) => waiting[0]!)
    .find(place => fits(room, place) && leavesRoomFor(first, place, passed))
}

/** What would be held if all had ended who were there before it came. */
function passedBy({ shares: { slots }, held }: Room, { line, since }: Place): shares.Holding {
  const passed = { free: slots, ofTenant: 0, ofLane: 0 }
  for (const place of held) {
    if (place.since <= since) continue
    passed.free -= place.bytes
    if (place.line.share.tenant === line.share.tenant) passed.ofTenant += place.bytes
    if (place.line === line) passed.ofLane += place.bytes
  }
  return passed
}

function leavesRoomFor(first: Place, { line, bytes }: Place, { free, ofTenant, ofLane }: shares.Holding): boolean {
  const isOfTenant = line.share.tenant === first.line.share.tenant
  const beside = { free: free - bytes, ofTenant: ofTenant + (isOfTenant ? bytes : 0), ofLane }
  return first.bytes <= shares.mostFor(beside)
}

function take(room: Room, place: Place): void {
  const { line, bytes } = place
  line.waiting.shift()
  line.held++
  shares.takeSlot(room.shares, line.share, bytes)
  if (line.waiting.length === 0) shares.setReady(room.shares, line.share, false)
  place.since = room.shares.round
  room.held.add(place)
}
