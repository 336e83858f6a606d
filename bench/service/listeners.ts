import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ListenersAnswer, ListenersOrder } from './listeners-process.ts'
import { whenTold } from './told.ts'

export interface Listeners {
  /** What they have read so far, all together; throws when one of them has been lost. */
  bytes(): Promise<number>
  stop(): Promise<void>
}

/** So many, once all of them listen. */
export async function startListeners(url: string, count: number): Promise<Listeners> {
  const child = fork(join(import.meta.dirname, 'listeners-process.ts'), { execArgv: [] })
  const asked = <Kind extends ListenersAnswer['kind']>(order: ListenersOrder, kind: Kind) => {
    const answer = whenTold(child, (told: ListenersAnswer): told is Extract<ListenersAnswer, { kind: Kind }> => {
      return told.kind === kind
    })
    child.send(order)
    return answer
  }
  await asked({ kind: 'listen', url, count }, 'listening')
  return {
    bytes: async () => {
      const { bytes, stillThere } = await asked({ kind: 'tell' }, 'told')
      if (stillThere < count) throw new Error(`${count - stillThere} of ${count} listeners were cut off`)
      return bytes
    },
    stop: async () => {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
