/** The target of a row, in a process of its own: it answers as the row says, and writes down what came. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { countedOf, type RequestSeen, type TargetRule } from '../../packages/service/src/recovery/row.test-kit.ts'
import { ROWS } from '../../packages/service/src/recovery/rows.test-kit.ts'
import { preciseNow } from '../service/world.ts'
import { seededRandom } from '../statistics.ts'

export type SinkOrder =
  | { readonly kind: 'begin'; readonly row: string; readonly seed: number; readonly startedAt: number }
  | { readonly kind: 'report' }

export type SinkAnswer =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'begun' }
  /** Every task that counts. */
  | { readonly kind: 'delivered' }
  | { readonly kind: 'report'; readonly seen: Seen }

export interface Seen {
  readonly requests: readonly RequestSeen[]
  /** The instant of each task's first success. */
  readonly deliveredAtMs: readonly (readonly [task: number, atMs: number])[]
}

type Noted = { -readonly [field in keyof RequestSeen]: RequestSeen[field] }

const requests: Noted[] = []
const attempts = new Map<number, number>()
const deliveredAtMs = new Map<number, number>()
let waited = new Set<number>()
let startedAt = 0
let rule: TargetRule | undefined
let random = seededRandom(0)

process.on('message', (order: SinkOrder) => {
  switch (order.kind) {
    case 'begin':
      return begin(order)
    case 'report':
      return tell({ kind: 'report', seen: { requests, deliveredAtMs: [...deliveredAtMs] } })
  }
})

// Its parent is gone, or has no more use for it.
process.on('disconnect', () => process.exit())

const server = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1')
// Longer than any pause of a row: a connection closed under a request would look like a fault.
server.keepAliveTimeout = 600_000
await once(server, 'listening')
tell({ kind: 'listening', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })

function begin(order: Extract<SinkOrder, { kind: 'begin' }>): void {
  const row = ROWS.find(({ name }) => name === order.row)
  if (row === undefined) throw new Error(`there is no row ${order.row}`)
  rule = row.target()
  random = seededRandom(order.seed)
  waited = new Set(countedOf(row))
  startedAt = order.startedAt
  tell({ kind: 'begun' })
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (rule === undefined) throw new Error('a request came before the row began')
  const task = Number(request.url?.slice(1))
  const atMs = preciseNow() - startedAt
  const attempt = (attempts.get(task) ?? 0) + 1
  const seen: Noted = { task, atMs, isSuccess: false }
  attempts.set(task, attempt)
  requests.push(seen)
  request.resume()
  const reply = rule({ atMs, task, attempt, random })
  if (reply.kind === 'hangs') return
  await sleep(reply.afterMs)
  // The caller may have hung up, or may be dead.
  if (response.destroyed) return
  response.writeHead(reply.status).end('{}')
  if (reply.status !== 200) return
  seen.isSuccess = true
  if (!deliveredAtMs.has(task)) deliveredAtMs.set(task, preciseNow() - startedAt)
  if (waited.delete(task) && waited.size === 0) tell({ kind: 'delivered' })
}

function tell(answer: SinkAnswer): void {
  process.send!(answer)
}
