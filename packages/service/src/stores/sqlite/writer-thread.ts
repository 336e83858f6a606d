/** The thread that writes: it opens the directory, says when the last instant was written, and commits batch after batch. */
import { strict as assert } from 'node:assert'
import { parentPort, workerData } from 'node:worker_threads'
import { numberOf, openFile, type FileOptions } from './file.ts'
import { createWorker, failureOf, type Batch, type Committed } from './worker.ts'
import type { Opened } from './thread.ts'
import { createWriter } from './writer.ts'

assert(parentPort !== null, 'this file is a thread')
const port = parentPort
const { directory, ...limits } = workerData as FileOptions

function say(message: Opened | Committed): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  port.postMessage(message)
}

function serve({ connection, path, files, close }: ReturnType<typeof openFile>): void {
  const commit = createWorker(createWriter(connection), path)
  port.on('message', (message: Batch | 'close') => {
    if (message !== 'close') return say(commit(message))
    close()
    port.close()
  })
  say({ kind: 'opened', files, lastWrittenAt: numberOf(connection, 'select last_at from store') })
}

let opened: ReturnType<typeof openFile> | undefined
try {
  opened = openFile({ directory, ...limits })
  serve(opened)
} catch (error) {
  opened?.close()
  say(failureOf(error, directory))
}
