/** Reads of what is there now, on a connection that sees all that was committed: tasks, queues, leases, memories. */
import { strict as assert } from 'node:assert'
import { laneKey } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import { cursorOf } from '../cursor.ts'
import type { LaneMemory, LaneRecord, LeaseHead, LeasesPage, Page, PartitionsPage, QueueHead } from '../store.ts'
import type { Connection } from './connection.ts'
import { queueIdsOf } from './lanes.ts'
import { wholeTasks } from './rows.ts'

export interface TaskReader {
  get(taskIds: readonly string[]): Task[]
  queues(ask: PartitionsPage): Page<QueueHead>
  leases(ask: LeasesPage, now: number): Page<LeaseHead>
  memories(ask: PartitionsPage): Page<LaneRecord>
}

const QUEUES = cursorOf('queues', 'number')
const LEASES = cursorOf('leases', 'number', 'number')
const MEMORIES = cursorOf('memories', 'number', 'string')

type LeaseRow = readonly [seq: number, partition: number, token: string, endsAt: number]

export function taskReader(connection: Connection): TaskReader {
  const byId = wholeTasks(connection, 'task_id = ?')
  const nextQueue = connection.row<[queueId: number, dueAt: number]>(
    'select queue_id, due_at from due where queue_id > ? and queue_id <= ? order by queue_id, due_at limit 1',
  )
  const nameOf = connection.row<[tenant: string, destination: string, queue: string]>(
    'select tenant, destination, key from queue join lane using (lane_id) where queue_id = ?',
  )
  // All leases are read and put in order: as many as there are requests under way.
  const readLeases = connection.rows<LeaseRow>('select seq, partition, token, ends_at from lease')
  const taskOf = connection.row<[taskId: string, tenant: string, destination: string]>(
    'select task_id, tenant, destination from task join lane using (lane_id) where seq = ?',
  )
  const readMemories = connection.rows<[partition: number, lane: string, memory: string]>(
    `select partition, lane, memory from memory
     where (partition, lane) > (?, ?) and partition in (select value from json_each(?)) order by partition, lane limit ?`,
  )

  return {
    get: taskIds => taskIds.flatMap(taskId => byId(taskId)),

    queues({ partitions, cursor, limit }) {
      const [behind] = cursor === undefined ? [-1] : QUEUES.read(cursor)
      const items: QueueHead[] = []
      for (const partition of partitions.toSorted((one, other) => one - other)) {
        const [first, last] = queueIdsOf(partition)
        if (last <= behind) continue
        // One step from each queue to the next, however many tasks wait there.
        let next = nextQueue(Math.max(first, behind), last)
        while (next !== undefined) {
          const [queueId, dueAt] = next
          const name = nameOf(queueId)
          if (name !== undefined) items.push({ lane: `${name[0]} ${name[1]}`, queue: name[2], dueAt })
          if (items.length === limit) return { items, nextCursor: QUEUES.write([queueId]) }
          next = nextQueue(queueId, last)
        }
      }
      return { items }
    },

    leases({ partitions, token, haveEnded, cursor, limit }, now) {
      const [lastEnd, lastSeq] = cursor === undefined ? [-1, 0] : LEASES.read(cursor)
      const asked = new Set(partitions)
      const rows = readLeases()
        .filter(
          ([, partition, by, endsAt]) => asked.has(partition) && (token ?? by) === by && (!haveEnded || endsAt <= now),
        )
        .filter(([seq, , , endsAt]) => endsAt > lastEnd || (endsAt === lastEnd && seq > lastSeq))
        .toSorted((one, other) => one[3] - other[3] || one[0] - other[0])
        .slice(0, limit)
      const items = rows.map(([seq, , by, endsAt]) => {
        const [taskId = '', tenant = '', destination = ''] = taskOf(seq) ?? []
        assert(taskId !== '', 'every lease is of a task')
        return { taskId, lane: laneKey({ tenant, destination }), token: by, endsAt }
      })
      const last = rows.length === limit ? rows.at(-1) : undefined
      return { items, ...(last && { nextCursor: LEASES.write([last[3], last[0]]) }) }
    },

    memories({ partitions, cursor, limit }) {
      const place = cursor === undefined ? [-1, ''] : MEMORIES.read(cursor)
      const rows = readMemories(...place, JSON.stringify(partitions), limit)
      const items = rows.map(([, lane, memory]) => ({ lane, memory: JSON.parse(memory) as LaneMemory }))
      const last = rows.length === limit ? rows.at(-1) : undefined
      return { items, ...(last && { nextCursor: MEMORIES.write([last[0], last[1]]) }) }
    },
  }
}
