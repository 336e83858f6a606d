import { laneKey } from '../../../task/lane.ts'
import type { TaskFilter } from '../../task-store.ts'
import type { Connection, Value } from '../file/connection.ts'
import { keyName } from '../rows/key-name.ts'
import type { Direction, Stretch } from './walk.ts'

/** The numbers of the first tasks in a stretch. */
export type Way = (stretch: Stretch, limit: number) => number[]

export function createWays(connection: Connection, direction: Direction): (filter: TaskFilter) => Way | undefined {
  const order = direction === 'newest-first' ? 'desc' : 'asc'
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
  const deadOfCause = wayAlong('dead', 'cause_id = ?')
  const isKeyed = `seq in (select seq from idempotency where key = ?
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

  return filter => {
    const { tenant, destination, status, reason, causeId, idempotencyKey: key, endedFrom, endedTo } = filter
    const isOfDead = status === 'EXHAUSTED' || [reason, causeId, endedFrom, endedTo].some(ask => ask !== undefined)
    if (isOfDead && status !== undefined && status !== 'EXHAUSTED') return undefined
    if (causeId !== undefined) return deadOfCause(causeId)
    if (key !== undefined) return (isOfDead ? deadOfKey : ofKey)(keyName(tenant, key), key)
    const lane = destination === undefined ? undefined : readLane(laneKey({ tenant, destination }))
    if (destination !== undefined && lane === undefined) return undefined
    if (isOfDead) return lane === undefined ? dead() : deadOfLane(...lane)
    if (status === 'IN_FLIGHT') return leased()
    const { createdFrom = -Infinity, createdTo = Infinity } = filter
    return lane === undefined ? all(createdFrom, createdTo) : ofLane(...lane, createdFrom, createdTo)
  }
}
