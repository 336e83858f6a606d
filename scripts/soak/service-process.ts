/** The built service as an operator starts it, until it is killed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface ServiceProcess {
  /** Where it listens; undefined before and after. */
  readonly url: () => string | undefined
  /** Its exit code; null after a signal. */
  readonly ended: Promise<number | null>
  /** The end of what it wrote on stderr. */
  readonly said: () => string
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => void
}

interface Start {
  readonly command: string
  readonly data: string
  /** An open file that takes its log. */
  readonly log: number
}

const SHOWN_CHARACTERS = 2_000

export function startProcess({ command, data, log }: Start): ServiceProcess {
  const line = [command, 'serve', '--data', data, '--port', '0', '--allow-target', '127.0.0.0/8']
  const child = spawn(process.execPath, line, { stdio: ['ignore', log, 'pipe'] })
  const { stderr } = child
  assert.ok(stderr, 'it was asked for as a pipe')
  const takeAlong = (): void => void child.kill('SIGKILL')
  process.once('exit', takeAlong)
  let url: string | undefined
  // It has said all by then.
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', takeAlong)
    url = undefined
    return code as number | null
  })
  let said = ''
  stderr.setEncoding('utf8').on('data', more => {
    said = `${said}${more}`.slice(-SHOWN_CHARACTERS)
    url ??= /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(said)?.[0]
  })
  return {
    url: () => url,
    ended,
    said: () => said,
    kill: signal => void child.kill(signal),
  }
}
