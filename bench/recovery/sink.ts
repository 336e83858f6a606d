import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { whenTold } from '../service/told.ts'
import type { Seen, SinkAnswer, SinkOrder } from './sink-process.ts'

export interface Sink {
  readonly url: string
  /** Answers as the row says from now on; the promise inside is kept when every task that counts was delivered. */
  begin(row: string, seed: number, startedAt: number): Promise<{ readonly delivered: Promise<unknown> }>
  seen(): Promise<Seen>
  stop(): Promise<void>
}

export async function startSink(): Promise<Sink> {
  const child = fork(join(import.meta.dirname, 'sink-process.ts'), { execArgv: [] })
  const { url } = await told(child, 'listening')
  return {
    url,
    begin: async (row, seed, startedAt) => {
      const delivered = told(child, 'delivered')
      // It may never be kept, and the sink may be stopped first.
      delivered.catch(() => {})
      await asked(child, { kind: 'begin', row, seed, startedAt }, 'begun')
      return { delivered }
    },
    seen: async () => (await asked(child, { kind: 'report' }, 'report')).seen,
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

function asked<Kind extends SinkAnswer['kind']>(child: ChildProcess, order: SinkOrder, kind: Kind) {
  const answer = told(child, kind)
  child.send(order)
  return answer
}

function told<Kind extends SinkAnswer['kind']>(child: ChildProcess, kind: Kind) {
  return whenTold(child, (answer: SinkAnswer): answer is Extract<SinkAnswer, { kind: Kind }> => answer.kind === kind)
}
