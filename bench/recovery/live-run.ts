/** One row with the real service: a process with its store on the disk, its HTTP intake, and a sink on the loopback. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { instantsOf, type Row, type Run } from '../../packages/service/src/recovery/row.test-kit.ts'
import { preciseNow } from '../service/world.ts'
import { bringTasks } from './intake.ts'
import { startProcess } from './service.ts'
import { startSink, type Sink } from './sink.ts'

/** By then the service serves every partition, and obeys the limits that it was told. */
const SETTLED_MS = 3_000

export async function runLive(row: Row, seed: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-recovery-'))
  const sink = await startSink()
  try {
    return await runIn(folder, sink, row, seed)
  } finally {
    await sink.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runIn(folder: string, sink: Sink, row: Row, seed: number): Promise<Run> {
  const port = await freePort()
  let service = startProcess(folder, port)
  try {
    await service.whenReady()
    if (row.limit !== undefined)
      await limit(`${service.url}/destinations/${encodeURIComponent(sink.url)}/settings`, row.limit)
    await sleep(SETTLED_MS)
    const startedAt = preciseNow()
    const { delivered } = await sink.begin(row.name, seed, startedAt)

    let restartedAtMs: number | undefined
    let restarted: Promise<void> | undefined
    const restart = async (afterMs: number): Promise<void> => {
      await sleep(afterMs)
      await service.stop('SIGKILL')
      restartedAtMs = preciseNow() - startedAt
      service = startProcess(folder, port)
      await service.whenReady()
    }
    const onAccepted = (): void => {
      if (row.killAfterMs !== undefined) restarted ??= restart(row.killAfterMs)
    }
    await bringTasks({ row, url: service.url, targetUrl: sink.url, startedAt, onAccepted })
    await restarted
    const leftMs = startedAt + row.endsAtMs - preciseNow()
    await Promise.race([delivered, sleep(leftMs, undefined, { ref: false })])
    const dead = await deadOf(service.url, sink.url)
    return { ...(await seenBy(sink, row)), dead, ...(restartedAtMs !== undefined && { restartedAtMs }) }
  } finally {
    await service.stop('SIGKILL')
  }
}

async function limit(url: string, concurrency: number): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ limits: { concurrency } }) })
  if (!response.ok) throw new Error(`the limit was refused: ${await response.text()}`)
}

async function deadOf(url: string, destination: string): Promise<number> {
  const response = await fetch(`${url}/destinations/${encodeURIComponent(destination)}`)
  const { exhausted } = (await response.json()) as { readonly exhausted?: number }
  if (exhausted === undefined) throw new Error(`the service does not know ${destination}: ${response.status}`)
  return exhausted
}

/** Compares the accepted tasks with the sink's record: the service is not asked. */
async function seenBy(sink: Sink, row: Row): Promise<Pick<Run, 'row' | 'tasks' | 'beside' | 'requests'>> {
  const { requests, deliveredAtMs } = await sink.seen()
  const delivered = new Map(deliveredAtMs)
  const tasks = row.arrivals.flatMap(instantsOf).map((arrivedAtMs, task) => ({
    arrivedAtMs,
    deliveredAtMs: delivered.get(task) ?? Infinity,
  }))
  return { row, tasks, beside: [], requests }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
