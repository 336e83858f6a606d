/** The threads of a store, seen from the main thread: one that commits, and one that moves the log into the file. */
import { strict as assert } from 'node:assert'
import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../store.ts'
import { errorOf, type Fault } from './faults.ts'
import type { FileOptions, OpenedFiles } from './file.ts'
import type { Batch, Committed, Failure } from './worker.ts'

export interface WriterThread {
  readonly files: OpenedFiles
  readonly lastWrittenAt: number
  commit(batch: Batch): Promise<Committed>
  close(): Promise<void>
}

/** What the thread says first. */
export type Opened = { readonly kind: 'opened'; readonly files: OpenedFiles; readonly lastWrittenAt: number } | Failure

export async function startWriterThread(options: FileOptions): Promise<WriterThread> {
  const worker = startThread('writer-thread', options)
  const waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = []
  let broken: StoreUnavailableError | undefined

  const next = <Answer>(): Promise<Answer> =>
    new Promise((resolve, reject) => waiting.push({ resolve: answer => resolve(answer as Answer), reject }))
  const breakWith = (why: string): void => {
    const message = `the thread of the store has ended (${why}); whether its last calls were written is not known; start the service again`
    broken ??= new StoreUnavailableError('store-unreachable', message)
    for (const { reject } of waiting.splice(0)) reject(broken)
  }
  worker.on('message', (answer: unknown) => waiting.shift()?.resolve(answer))
  worker.on('error', error => breakWith(error instanceof Error ? error.message : String(error)))
  const exited = new Promise<void>(resolve =>
    worker.on('exit', code => {
      breakWith(`exit code ${code}`)
      resolve()
    }),
  )

  const opened = await next<Opened>()
  if (opened.kind !== 'opened') {
    await exited
    throw opened.kind === 'unavailable' ? errorOf(opened.fault) : new Error(opened.message)
  }
  return {
    ...opened,
    async commit(batch) {
      if (broken !== undefined) throw broken
      post(worker, batch)
      const committed = await next<Committed>()
      assert.equal(committed.outcomes.length, batch.calls.length, 'each call is answered')
      return committed
    },
    async close() {
      post(worker, 'close')
      await exited
    },
  }
}

export interface CheckpointThread {
  close(): Promise<void>
}

/** The writer does its work, more slowly, where it cannot start. */
export function startCheckpointThread(directory: string, onFault: (fault: Fault) => void): CheckpointThread {
  const worker = startThread('checkpoint-thread', { directory })
  worker.on('message', onFault)
  const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()).on('error', () => resolve()))
  return {
    close() {
      post(worker, 'close')
      return exited
    },
  }
}

function startThread(name: string, options: FileOptions): Worker {
  // Built files have another ending than sources, and sources mean the sources of other packages, too.
  const isSource = import.meta.url.endsWith('.ts')
  const script = new URL(`${name}.${isSource ? 'ts' : 'js'}`, import.meta.url)
  return new Worker(script, { workerData: options, execArgv: isSource ? ['--conditions=@secondwind/source'] : [] })
}

function post(worker: Worker, message: Batch | 'close'): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  worker.postMessage(message)
}
