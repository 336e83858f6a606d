/** The thread that writes: it opens the directory, says when the last instant was, and then commits what it is sent. */
import { parentPort, workerData } from 'node:worker_threads'
import { openFile, type FileOptions } from '../file/file.ts'
import type { OpenedFiles } from '../file/in-place.ts'
import { serve } from '../threads/thread-end.ts'
import { commit, type Batch } from './commit.ts'
import { createWriter, type WriterOptions } from './writer.ts'

export interface WriterOpened {
  readonly lastWrittenAt: number
  readonly files: OpenedFiles
}

serve(parentPort!, () => {
  const options = workerData as FileOptions & WriterOptions
  const { connection, path, files, close } = openFile(options)
  const writer = createWriter(connection, options)
  const [lastWrittenAt] = connection.row<[number]>('select last_at from store')()!
  return {
    opened: { lastWrittenAt, files } satisfies WriterOpened,
    answer: (batch: Batch) => commit(writer, batch, path),
    close,
  }
})
