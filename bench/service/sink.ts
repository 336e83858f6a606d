import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { SinkAnswer, SinkOrder } from './sink-process.ts'
import { whenTold } from './told.ts'

/** Where all deliveries go: a server in a process of its own, so that it takes no time from whoever delivers. */
export interface Sink {
  /** One per port that it listens on. */
  readonly urls: readonly string[]
  /** Counts from nothing; each promise is kept when so many requests have come. */
  watch(counts: readonly number[]): Promise<readonly Promise<Reached>[]>
  stop(): Promise<void>
}

export interface Reached {
  readonly at: number
  /** Of the requests that said when they were due. */
  readonly latenessMs: { readonly p50: number; readonly p99: number }
}

export async function startSink(portCount = 1): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink-process.ts'), { execArgv: [] })
  const { urls } = await asked(child, { kind: 'listen', portCount }, 'listening')
  return {
    urls,
    watch: async counts => {
      const reached = counts.map(count => whenReached(child, count))
      await asked(child, { kind: 'watch', counts }, 'watching')
      return reached
    },
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

async function asked<Kind extends SinkAnswer['kind']>(
  child: ChildProcess,
  order: SinkOrder,
  kind: Kind,
): Promise<Extract<SinkAnswer, { kind: Kind }>> {
  const answer = whenTold(
    child,
    (answer: SinkAnswer): answer is Extract<SinkAnswer, { kind: Kind }> => answer.kind === kind,
  )
  child.send(order)
  return answer
}

function whenReached(child: ChildProcess, count: number): Promise<Reached> {
  return whenTold(
    child,
    (answer: SinkAnswer): answer is Extract<SinkAnswer, { kind: 'reached' }> =>
      answer.kind === 'reached' && answer.count === count,
  )
}
