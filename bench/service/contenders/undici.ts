/** No queue and no store: undici's `dispatch` alone, which nobody who delivers by undici can outrun. */
import { type Dispatcher, Pool } from 'undici'
import { BODY, CONCURRENCY, headersOf, type Order } from '../delivery.ts'
import type { Open } from './contender.ts'

export const open: Open = async () => {
  const orders: Order[] = []
  let pool: Pool | undefined
  let lanes: Promise<unknown> = Promise.resolve()
  return {
    add: async order => orders.push(order),
    addMany: async more => {
      for (const order of more) orders.push(order)
    },
    start: async () => {
      const first = orders[0]
      if (first === undefined) return
      const { origin, pathname } = new URL(first.url)
      const request = { origin, path: pathname, method: 'POST' as const, headers: headersOf(undefined), body: BODY }
      pool = new Pool(origin, { connections: 128 })
      const ownPool = pool
      let sent = 0
      const lane = async (): Promise<void> => {
        while (sent < orders.length) {
          sent++
          await sendOne(ownPool, request)
        }
      }
      lanes = Promise.all(Array.from({ length: CONCURRENCY }, lane))
    },
    whenDone: async () => void (await lanes),
    close: async () => pool?.close(),
  }
}

function sendOne(pool: Pool, request: Dispatcher.DispatchOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(request, {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    })
  })
}
