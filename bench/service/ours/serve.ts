import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const COMMAND = join(import.meta.dirname, '../../../packages/cli/bin/secondwind.js')
const PAUSE_MS = 2
/** Two minutes: whoever is not ready by then is not measured, but broken. */
const MOST_QUESTIONS = 60_000
/** What was only needed to start is gone by then. */
const SETTLED_MS = 1_000

/** Starts the service as an operator does, on the data in `folder`, and stops it once it was looked at. */
export async function serveUntilReady(folder: string): Promise<{ readyMs: number; residentMb: number }> {
  const begunAt = performance.now()
  const line = [COMMAND, 'serve', '--data', folder, '--port', '0']
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  await untilReady(child, `${await announced(child)}/readyz`)
  const readyMs = performance.now() - begunAt
  await sleep(SETTLED_MS)
  const residentMb = residentMbOf(child)
  child.kill('SIGTERM')
  const [code] = await ended
  if (code !== 0) throw new Error(`secondwind serve ended with ${code}`)
  return { readyMs, residentMb }
}

/** Where it listens, as it tells people. */
function announced(child: ChildProcess): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', more => {
      text += more
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
      if (url !== undefined) resolve(url)
    })
    child.once('exit', code => reject(new Error(`secondwind serve ended with ${code}: ${text}`)))
  })
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  for (let questions = 0; questions < MOST_QUESTIONS; questions++) {
    if (child.exitCode !== null) throw new Error(`secondwind serve ended with ${child.exitCode}`)
    if (await isReady(url)) return
    await sleep(PAUSE_MS)
  }
  child.kill('SIGKILL')
  throw new Error('secondwind serve does not become ready')
}

function isReady(url: string): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(url, { agent: false }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    // Nobody listens yet.
    request.on('error', () => resolve(false))
  })
}

/** As Linux counts it; elsewhere this figure is missing. */
function residentMbOf(child: ChildProcess): number {
  if (process.platform !== 'linux') return Number.NaN
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_000
}
