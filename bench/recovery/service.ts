/** The service as an operator starts it, on a folder and a port of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const COMMAND = join(import.meta.dirname, '../../packages/cli/bin/secondwind.js')
const PAUSE_MS = 10
/** A minute: a service that is not ready by then is not measured, but broken. */
const MOST_QUESTIONS = 6_000

export interface ServiceProcess {
  readonly url: string
  whenReady(): Promise<void>
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export function startProcess(folder: string, port: number): ServiceProcess {
  const line = [COMMAND, 'serve', '--data', folder, '--port', `${port}`, '--allow-target', '127.0.0.0/8']
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  const takeAlong = (): void => void child.kill('SIGKILL')
  process.once('exit', takeAlong)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => (errors = `${errors}${text}`.slice(-2_000)))
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    whenReady: () => untilReady(child, url, () => errors),
    stop: async signal => {
      child.kill(signal)
      await ended
      process.off('exit', takeAlong)
    },
  }
}

async function untilReady(child: ChildProcess, url: string, errors: () => string): Promise<void> {
  for (let questions = 0; questions < MOST_QUESTIONS; questions++) {
    if (child.exitCode !== null) throw new Error(`secondwind serve ended with ${child.exitCode}: ${errors()}`)
    if (await isReady(url)) return
    await sleep(PAUSE_MS)
  }
  throw new Error('secondwind serve does not become ready')
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`)
    await response.arrayBuffer()
    return response.ok
  } catch {
    // It does not listen yet.
    return false
  }
}
