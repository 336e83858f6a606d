/** What every contender delivers, and how those do it that bring no HTTP client of their own. */
import { Pool } from 'undici'

/** Calls under way at once. */
export const CONCURRENCY = 100

/** 256 bytes of JSON, as a webhook might be. */
export const BODY: string = JSON.stringify({ event: 'order.paid', order: 8812, filler: '' }).replace(
  '""',
  `"${'x'.repeat(211)}"`,
)

/** Says when the request was due, so that the sink can tell how late it came. */
export const DUE_HEADER = 'x-due-at'

export interface Order {
  readonly url: string
  /** Left out: now. */
  readonly dueAt?: number
}

/** The whole request: whoever keeps a task has this to keep, and to send what was kept. */
export interface Delivery {
  readonly url: string
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
}

export function deliveryOf({ url, dueAt }: Order): Delivery {
  return { url, method: 'POST', headers: headersOf(dueAt), body: BODY }
}

export interface Courier {
  deliver(delivery: Delivery): Promise<void>
  close(): Promise<void>
}

/** As a careful engineer would write a job's handler: undici's `request`, a pool per origin. */
export function createCourier(): Courier {
  const pools = new Map<string, Pool>()
  const poolOf = (origin: string): Pool => {
    let pool = pools.get(origin)
    if (pool === undefined) pools.set(origin, (pool = new Pool(origin, { connections: 128 })))
    return pool
  }
  return {
    deliver: async ({ url, ...request }) => {
      const { origin, pathname: path } = new URL(url)
      const { statusCode, body } = await poolOf(origin).request({ path, ...request })
      await body.dump()
      if (statusCode !== 200) throw new Error(`the sink answered ${statusCode}`)
    },
    close: async () => void (await Promise.all([...pools.values()].map(pool => pool.close()))),
  }
}

export function headersOf(dueAt: number | undefined): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (dueAt !== undefined) headers[DUE_HEADER] = `${dueAt}`
  return headers
}
