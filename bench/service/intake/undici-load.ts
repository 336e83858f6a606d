/** The load without wrk: `node undici-load.ts <load>` prints what came of it as JSON. */
import { Pool } from 'undici'
import { quantile } from '../../statistics.ts'
import { CONNECTIONS, type Load } from './load.ts'

const { url, seconds, keyPrefix, accessKey }: Load = JSON.parse(process.argv[2]!)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: CONNECTIONS })
const latenciesMs: number[] = []
let count = 0

const begunAt = performance.now()
const endsAt = begunAt + seconds * 1_000
await Promise.all(Array.from({ length: CONNECTIONS }, caller))
const elapsedMs = performance.now() - begunAt
await pool.close()

latenciesMs.sort((a, b) => a - b)
const result = { perSecond: (latenciesMs.length * 1_000) / elapsedMs, p99Ms: quantile(latenciesMs, 0.99) }
process.stdout.write(JSON.stringify(result))

async function caller(): Promise<void> {
  while (performance.now() < endsAt) {
    const sentAt = performance.now()
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: pathname,
      headers: {
        'content-type': 'application/json',
        ...(accessKey !== undefined && { authorization: `Bearer ${accessKey}` }),
      },
      body: taskOf(`${keyPrefix}-${++count}`),
    })
    await body.dump()
    if (statusCode !== 201) throw new Error(`the load met failures: ${statusCode}`)
    latenciesMs.push(performance.now() - sentAt)
  }
}

/** The same as in tasks.lua. */
function taskOf(idempotencyKey: string): string {
  return JSON.stringify({
    targetUrl: 'https://api.example/charge',
    method: 'POST',
    delayMs: 86_400_000,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 100, filler: 'x'.repeat(211) }),
    idempotencyKey,
  })
}
