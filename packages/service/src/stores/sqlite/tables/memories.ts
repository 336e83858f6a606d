import type { Connection } from '../file/connection.ts'

/** What the steward of a lane wants the next one to know. */
export interface Memories {
  write(partition: number, lane: string, memory: string): void
  remove(partition: number, lane: string): void
}

export function createMemories(connection: Connection): Memories {
  const write = connection.write(
    `insert into memory (partition, lane, memory) values (?, ?, ?)
     on conflict do update set memory = excluded.memory`,
  )
  const remove = connection.write('delete from memory where partition = ? and lane = ?')
  return {
    write: (partition, lane, memory) => write(partition, lane, memory),
    remove: (partition, lane) => remove(partition, lane),
  }
}
