import type { Recall } from '../recall.ts'
import type { Book } from './book.ts'

export function recall(book: Book, { partition, tasks }: Recall): string[] {
  const recalled: string[] = []
  for (const { taskId, dueAt } of tasks) {
    const entry = book.find(taskId)
    if (entry === undefined || entry.partition !== partition) continue
    const { state } = entry.task
    if (state.status !== 'PENDING' || state.nextAttemptAt <= dueAt) continue
    book.write(entry, { state: { ...state, nextAttemptAt: dueAt } })
    recalled.push(taskId)
  }
  return recalled
}
