/** Which files of this package run, in this thread and in the threads that it has started. V8 counts the calls of each function. */
import { Session, type NodeWorker, type Profiler } from 'node:inspector/promises'

export interface Coverage {
  /** For each thread, the files in which a function was called since the last `take`. Paths are below `src`. */
  take(): Promise<ReadonlySet<string>[]>
  stop(): void
}

export async function startCoverage(): Promise<Coverage> {
  const session = new Session()
  session.connect()
  const threads: Ask[] = []
  // Nothing is awaited in between: a thread may start while the others are asked what they ran.
  const watch = (ask: Ask): void => {
    void ask('Profiler.enable')
    // Not `detailed`: V8 counts blocks only in functions that it compiles from then on, and calls in all.
    void ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    threads.push(ask)
  }
  session.on('NodeWorker.attachedToWorker', ({ params }) => watch(askerOf(session, params.sessionId)))
  watch((method, params) => session.post(method, params))
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return {
    take: () =>
      Promise.all(
        threads.map(async ask =>
          filesIn((await ask('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType),
        ),
      ),
    stop: () => session.disconnect(),
  }
}

type Ask = (method: string, params?: object) => Promise<unknown>

/** A worker is asked through the session of the main thread, by messages. */
function askerOf(session: Session, sessionId: NodeWorker.SessionID): Ask {
  const waiting = new Map<number, (result: unknown) => void>()
  let asked = 0
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId !== sessionId) return
    const { id, result } = JSON.parse(params.message) as { readonly id: number; readonly result: unknown }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  return (method, params) => {
    const id = ++asked
    const message = JSON.stringify({ id, method, params })
    return new Promise(resolve => {
      // Before it is sent: the answer can come before `post` returns.
      waiting.set(id, resolve)
      void session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
    })
  }
}

const SOURCES = new URL('..', import.meta.url).href
const TEST = /\.(?:test|test-kit|conformance)\.ts$/

function filesIn({ result }: Profiler.TakePreciseCoverageReturnType): ReadonlySet<string> {
  const called = result.filter(
    ({ url, functions }) => url.startsWith(SOURCES) && !TEST.test(url) && functions.some(isCalled),
  )
  return new Set(called.map(({ url }) => url.slice(SOURCES.length)))
}

/** The function that begins at 0 is the module itself. It runs when the file is loaded, and not for a task. */
function isCalled({ ranges }: Profiler.FunctionCoverage): boolean {
  return ranges.some(({ startOffset, count }) => startOffset > 0 && count > 0)
}
