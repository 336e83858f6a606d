/** A thread that answers with what it is sent, leaves at `exit`, throws what nobody catches at `throw`, and fails at `fail`. */
import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailableError } from '../../task-store.ts'
import type { FileOptions } from '../file/file.ts'
import { serve } from './thread-end.ts'

const { directory } = workerData as FileOptions
serve(parentPort!, () => {
  if (directory === 'nowhere') throw new StoreUnavailableError('store-read-only', 'nowhere cannot be written')
  return {
    opened: `opened ${directory}`,
    answer(ask: string) {
      if (ask === 'exit') process.exit(3)
      if (ask === 'throw') setImmediate(bug)
      if (ask === 'fail') throw new RangeError('no such verb')
      return ask
    },
    close: () => undefined,
  }
})

function bug(): never {
  throw new RangeError('a bug')
}
