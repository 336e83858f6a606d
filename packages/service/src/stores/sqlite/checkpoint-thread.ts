/**
 * Moves the log into the file beside the writer, which would stand still for as long otherwise. Without it the slowest
 * enqueues of a busy store take twice as long (p99).
 */
import { strict as assert } from 'node:assert'
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '@secondwind/resilience'
import { faultOf } from './faults.ts'
import { dataPath, openBeside, type FileOptions } from './file.ts'

const LONG_LOG_PAGES = 2_000
const LOOK_EVERY_MS = 20

assert(parentPort !== null, 'this file is a thread')
const port = parentPort
const { directory } = workerData as FileOptions
const connection = openBeside(directory, { readOnly: false })
connection.exec('pragma wal_autocheckpoint = 0')
const length = connection.row<[busy: number, pages: number, moved: number]>('pragma wal_checkpoint(noop)')
const move = connection.row('pragma wal_checkpoint(passive)')

const closing = new AbortController()
port.once('message', () => closing.abort())

while (!closing.signal.aborted) {
  moveLongLog()
  await systemClock.sleep(LOOK_EVERY_MS, closing.signal).catch(() => undefined)
}
connection.close()

function moveLongLog(): void {
  try {
    const [, pages, moved] = length() ?? [0, 0, 0]
    if (pages - moved > LONG_LOG_PAGES) move()
  } catch (error) {
    const fault = faultOf(error, dataPath(directory))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    if (fault !== undefined) port.postMessage(fault)
  }
}
