import { laneKey } from '../../../task/lane.ts'
import type { TaskFilter } from '../../task-store.ts'
import type { Connection, Value } from '../file/connection.ts'
import { keyName } from '../rows/key-name.ts'
import { merge } from './merge.ts'
import { createTenants } from './tenants.ts'
import type { Direction, Stretch } from './walk.ts'

/** The numbers of the first tasks in a stretch. */
export type Way = (stretch: Stretch, limit: number) => number[]

/** Where more tenants than that send to one destination, a way through all tasks meets enough that are for it. */
const MOST_LANES = 100

export function createWays(connection: Connection, direction: Direction): (filter: TaskFilter) => Way | undefined {
  const isDownward = direction === 'newest-first'
  const order = isDownward ? 'desc' : 'asc'
  const wayAlong = (table: string, where?: string): ((...values: Value[]) => Way) => {
    const read = connection.rows<[number]>(
      `select seq from ${table} where ${where === undefined ? '' : `${where} and `}seq >= ? and seq < ?
       order by seq ${order} limit ?`,
    )
    return (...values) =>
      ({ from, behind }, limit) =>
        read(...values, from, behind, limit).map(([seq]) => seq)
  }
  const readLane = connection.row<[number]>('select lane_id from lane where key = ?')
  const tenants = createTenants(connection)
  const deadOfCause = wayAlong('dead', 'cause_id = ?')
  // Those that are not filed by their key yet are some ten thousand tasks: looked through where a key is asked for.
  const readLoose = connection.rows<[number]>(
    'select seq from task where seq > (select keys_filed_up_to from store) and idempotency_key = ?',
  )
  const isKeyed = `seq in (select seq from idempotency where key in (select value from json_each(?))
    union all select value from json_each(?)
    union all select seq from task where task_id = ? and idempotency_key is null)`
  const ofKey = wayAlong('task', isKeyed)
  const deadOfKey = wayAlong('dead', isKeyed)
  const deadOfLane = wayAlong('dead', 'lane_id = ?')
  const dead = wayAlong('dead')
  const leased = wayAlong('lease')
  // The block at the edge of a time that is asked for holds others too: SQLite passes over them ten times as fast as we do.
  const isCreated = 'created_at >= ? and created_at < ?'
  const ofLane = wayAlong('task', `lane_id = ? and ${isCreated}`)
  const all = wayAlong('task', isCreated)

  const lanesOf = (destination: string, owners: Iterable<string>): number[] => {
    const lanes: number[] = []
    for (const tenant of owners) {
      lanes.push(...(readLane(laneKey({ tenant, destination })) ?? []))
      if (lanes.length > MOST_LANES) break
    }
    return lanes
  }
  /** Side by side, as one. */
  const together = (ways: readonly Way[]): Way | undefined =>
    ways.length < 2
      ? ways[0]
      : (stretch, most) =>
          merge(ways, {
            nextOf: (way, last) => way(last === undefined ? stretch : ahead(stretch, last), 1)[0],
            isBefore: (one, other) => (isDownward ? one > other : one < other),
            most,
          })
  const ahead = ({ from, behind }: Stretch, last: number): Stretch =>
    isDownward ? { from, behind: last } : { from: last + 1, behind }

  return filter => {
    const { tenant, destination, status, reason, causeId, idempotencyKey: key, endedFrom, endedTo } = filter
    const isOfDead = status === 'EXHAUSTED' || [reason, causeId, endedFrom, endedTo].some(ask => ask !== undefined)
    if (isOfDead && status !== undefined && status !== 'EXHAUSTED') return undefined
    if (causeId !== undefined) return deadOfCause(causeId)
    const owners = tenant === undefined ? tenants() : [tenant]
    if (key !== undefined) {
      const names = Array.from(owners, owner => keyName(owner, key))
      return (isOfDead ? deadOfKey : ofKey)(JSON.stringify(names), JSON.stringify(readLoose(key).flat()), key)
    }
    const { createdFrom = -Infinity, createdTo = Infinity } = filter
    const lanes = destination === undefined ? undefined : lanesOf(destination, owners)
    if (status === 'IN_FLIGHT') return lanes?.length === 0 ? undefined : leased()
    if (lanes !== undefined && lanes.length <= MOST_LANES)
      return together(lanes.map(lane => (isOfDead ? deadOfLane(lane) : ofLane(lane, createdFrom, createdTo))))
    return isOfDead ? dead() : all(createdFrom, createdTo)
  }
}
