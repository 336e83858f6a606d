import type { Task } from '../../../task/task.ts'
import { bytesOfTask, fitting } from '../../page-bytes.ts'
import type { TasksPage } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import type { RowsOfTasks } from '../rows/rows-of-tasks.ts'
import { shortened, type From, type Slice } from '../rows/slice.ts'
import { readWholeTasks } from '../rows/whole-tasks.ts'
import { createWalk } from './walk.ts'

export type List = (ask: From<TasksPage, [seq: number]>) => Slice<Task, [number]>

/** Tasks as they arrived, the newest first. */
export function createList(connection: Connection, rows: RowsOfTasks): List {
  const walk = createWalk(connection, rows, 'newest-first')
  const whole = readWholeTasks(connection, rows)
  return ask => {
    const found = walk(ask)
    const tasks = fitting(found.items, seq => whole.bySeq(seq)!, bytesOfTask)
    return shortened(found, tasks, seq => [seq])
  }
}
