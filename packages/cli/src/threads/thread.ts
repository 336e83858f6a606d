/** A thread that does jobs, one after another. */
import { parentPort } from 'node:worker_threads'
import { runJob, type Job } from './jobs.ts'

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
parentPort!.on('message', (job: Job) => parentPort!.postMessage(runJob(job)))
