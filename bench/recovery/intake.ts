/** Brings a row's tasks to the service, each by a POST at its instant. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { instantsOf, type Row } from '../../packages/service/src/recovery/row.test-kit.ts'
import { preciseNow } from '../service/world.ts'

/** As one program with many callers. */
const CONNECTIONS = 64

/** A caller that was cut off by a crash repeats its request with the same key, for a minute. */
const PAUSE_MS = 50
const MOST_TRIES = 1_200

interface Intake {
  readonly row: Row
  readonly url: string
  readonly targetUrl: string
  readonly startedAt: number
  readonly onAccepted: () => void
}

/** Resolves when every task was accepted: a POST that was refused breaks the run off. */
export async function bringTasks(intake: Intake): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const instants = intake.row.arrivals.flatMap(instantsOf)
  const brought: Promise<void>[] = []
  for (const [task, atMs] of instants.entries()) {
    const waitMs = intake.startedAt + atMs - preciseNow()
    if (waitMs > 0) await sleep(waitMs)
    brought.push(bring(intake, task, agent))
  }
  await Promise.all(brought)
  agent.destroy()
}

async function bring({ row, url, targetUrl, onAccepted }: Intake, task: number, agent: Agent): Promise<void> {
  const { policy, killAfterMs } = row
  const body = { targetUrl: `${targetUrl}/${task}`, idempotencyKey: `task-${task}`, ...(policy && { policy }) }
  const mayRepeat = killAfterMs !== undefined
  for (let tries = 1; ; tries++) {
    const status = await post(`${url}/retry-tasks`, body, agent)
    if (status === 200 || status === 201) return onAccepted()
    if (!mayRepeat || tries >= MOST_TRIES) throw new Error(`task ${task} was not accepted: ${status}`)
    await sleep(PAUSE_MS)
  }
}

function post(url: string, body: object, agent: Agent): Promise<number | string> {
  const headers = { 'content-type': 'application/json' }
  return new Promise(resolve => {
    const asked = request(url, { method: 'POST', headers, agent }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', error => resolve(error.message))
    })
    asked.on('error', error => resolve(error.message))
    asked.end(JSON.stringify(body))
  })
}
