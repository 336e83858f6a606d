import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../../task-store.ts'
import type { FileOptions } from '../file/file.ts'
import { CLOSE, errorOfFailure, type Said } from './thread-end.ts'

/** A thread of the store, seen from outside. */
export interface Thread<Ask, Answer> {
  /** Answers come in the order of the asks. */
  ask(ask: Ask): Promise<Answer>
  close(): Promise<void>
}

/** Starts a thread, and resolves with what it says once it is open. */
export async function startThread<Ask, Answer, Opened>(
  script: URL,
  data: FileOptions,
): Promise<{ readonly thread: Thread<Ask, Answer>; readonly opened: Opened }> {
  const worker = new Worker(script, { workerData: data, execArgv: flagsFor(script) })
  const waiting: Waiter[] = []
  let broken: StoreUnavailableError | undefined

  const next = <Value>(): Promise<Value> =>
    new Promise((resolve, reject) => waiting.push({ resolve: value => resolve(value as Value), reject }))
  const breakWith = (why: string): void => {
    const message = `a thread of the store has ended (${why}); whether its last calls were written is not known; start the service again`
    broken ??= new StoreUnavailableError('store-unreachable', message)
    for (const { reject } of waiting.splice(0)) reject(broken)
  }
  const tell = <Value>(message: Ask | typeof CLOSE): Promise<Value> => {
    if (broken !== undefined) return Promise.reject(broken)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage(message)
    return next()
  }
  worker.on('message', (said: Said<unknown>) => {
    // What a thread says after its end was told is told to nobody.
    const waiter = waiting.shift()
    if (said.kind === 'said') waiter?.resolve(said.value)
    else waiter?.reject(errorOfFailure(said))
  })
  worker.on('error', error => breakWith(error instanceof Error ? error.message : String(error)))
  const exited = new Promise<void>(resolve =>
    worker.on('exit', code => {
      breakWith(`exit code ${code}`)
      resolve()
    }),
  )

  const close = async (): Promise<void> => {
    if (broken === undefined) await tell(CLOSE)
    await exited
  }
  try {
    const opened = await next<Opened>()
    return { thread: { ask: tell, close }, opened }
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

interface Waiter {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Sources mean the sources of other packages, too, whatever the process was started with. */
function flagsFor({ pathname }: URL): string[] {
  return pathname.endsWith('.ts') ? ['--conditions=@secondwind/source'] : []
}
