/** The thread that moves the log into the file beside the writer, which would stand still for as long. */
import { parentPort, workerData } from 'node:worker_threads'
import { openToMove, sayingWhy, type FileOptions } from '../file/file.ts'
import { diskBytes, longLogPages } from '../file/log-length.ts'
import { serve } from '../threads/thread-end.ts'
import { moveLongLog } from './move-log.ts'

serve(parentPort!, () => {
  const options = workerData as FileOptions
  const longPages = longLogPages(diskBytes(options.directory))
  const { connection, path, close } = openToMove(options)
  return { opened: null, answer: () => sayingWhy(path, () => moveLongLog(connection, longPages)), close }
})
