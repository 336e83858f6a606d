/** The thread that moves the log into the file beside the writer, which would stand still for as long. */
import { parentPort, workerData } from 'node:worker_threads'
import { openToMove, sayingWhy, type FileOptions } from '../file/file.ts'
import { diskBytes, longLogPages, shortLogPages } from '../file/log-length.ts'
import { serve } from '../threads/thread-end.ts'
import { moveLongLog } from './move-log.ts'

/** What is to be moved: the log if it is long, or what came since, if that is more than is left to the writer. */
export type MoverAsk = 'long' | 'more'

serve(parentPort!, () => {
  const options = workerData as FileOptions
  const allBytes = diskBytes(options.directory)
  const leastPages = { long: longLogPages(allBytes), more: shortLogPages(allBytes) }
  const { connection, path, close } = openToMove(options)
  return {
    opened: null,
    answer: (ask: MoverAsk) => sayingWhy(path, () => moveLongLog(connection, leastPages[ask])),
    close,
  }
})
