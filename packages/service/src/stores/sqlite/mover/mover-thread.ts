/** The thread that moves the log into the file beside the writer, which would stand still for as long. */
import { parentPort, workerData } from 'node:worker_threads'
import { openToMove, sayingWhy, type FileOptions } from '../file/file.ts'
import { serve } from '../threads/thread-end.ts'
import { moveLongLog } from './move-log.ts'

serve(parentPort!, () => {
  const { connection, path, close } = openToMove(workerData as FileOptions)
  return { opened: null, answer: () => sayingWhy(path, () => moveLongLog(connection)), close }
})
