/** The thread that reads what may take long, on a connection of its own, so that no claim waits for it. */
import { parentPort, workerData } from 'node:worker_threads'
import { openToRead, sayingWhy, type FileOptions } from '../file/file.ts'
import { serve } from '../threads/thread-end.ts'
import { createReading, type ReaderAsk } from './reading.ts'

serve(parentPort!, () => {
  const { connection, path, close } = openToRead(workerData as FileOptions)
  const reading = createReading(connection)
  return { opened: null, answer: (ask: ReaderAsk) => sayingWhy(path, () => reading(ask)), close }
})
