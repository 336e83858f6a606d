/** A thread that doubles what it is sent, throws at `throw`, and leaves at `exit`. */
import { parentPort } from 'node:worker_threads'

parentPort!.on('message', (job: number | string) => {
  if (job === 'throw') throw new RangeError('no job of mine')
  if (job === 'exit') process.exit(3)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort!.postMessage(Number(job) * 2)
})
