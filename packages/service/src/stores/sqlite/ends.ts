/** Ends that a callback must tell: kept by the change that made them, listed lane by lane, gone when they are told. */
import type { Callback } from '../../task/callback.ts'
import { cursorOf } from '../cursor.ts'
import type { EndName, EndsAsk, Page } from '../store.ts'
import { named, type Connection } from './connection.ts'

/** A page ends with a lane. */
const ENDS = cursorOf('ends', 'number', 'string')

export function endsToTell(connection: Connection): (ask: EndsAsk) => Page<Callback> {
  const nextPartition = connection.row<[number]>(
    'select partition from untold where partition >= ? order by partition limit 1',
  )
  const nextLane = connection.row<[string]>(
    'select lane from untold where partition = ? and lane > ? order by lane limit 1',
  )
  const columns = named('tenant, callback_url, task_id, generation, status, reason, attempt_number')
  const oldest = connection.objects<Callback>(
    `select ${columns} from untold where partition = ? and lane = ? order by end_id limit ?`,
  )
  return ({ partitions, perLane, limit, cursor }) => {
    const asked = new Set(partitions)
    const [lastPartition, lastLane] = cursor === undefined ? [0, ''] : ENDS.read(cursor)
    const items: Callback[] = []
    for (
      let partition = nextPartition(lastPartition)?.[0];
      partition !== undefined;
      partition = nextPartition(partition + 1)?.[0]
    ) {
      if (!asked.has(partition)) continue
      const before = partition === lastPartition ? lastLane : ''
      for (let lane = nextLane(partition, before)?.[0]; lane !== undefined; lane = nextLane(partition, lane)?.[0]) {
        items.push(...oldest(partition, lane, Math.min(perLane, limit - items.length)))
        if (items.length >= limit) return { items, nextCursor: ENDS.write([partition, lane]) }
      }
    }
    return { items }
  }
}

export function endsToldVerb(connection: Connection): (ends: readonly EndName[]) => null {
  const remove = connection.write('delete from untold where task_id = ? and generation = ?')
  return ends => {
    for (const { taskId, generation } of ends) remove(taskId, generation)
    return null
  }
}
