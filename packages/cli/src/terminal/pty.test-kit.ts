import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** `script` of util-linux runs a command on a pseudo-terminal; others of that name take other flags. */
export const HAS_PTY: boolean = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '')

export interface OnPty {
  /** All that the terminal has shown so far. */
  readonly shown: () => string
  /** Resolves once the screen has shown it. */
  readonly until: (pattern: RegExp) => Promise<void>
  readonly type: (keys: string) => void
  readonly exitCode: Promise<number | null>
}

/** The program as a process of its own on a real terminal of 100 columns and 24 rows. */
export function onPty(words: readonly string[]): OnPty {
  const quoted = [process.execPath, '--conditions=@secondwind/source', MAIN, ...words]
    .map(word => `'${word}'`)
    .join(' ')
  const child = spawn('script', ['-qefc', `stty cols 100 rows 24; exec ${quoted}`, '/dev/null'], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exitCode = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exitCode
  })
  let shown = ''
  const listeners = new Set<() => void>()
  const wake = (): void => {
    for (const listener of listeners) listener()
  }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
    wake()
  })
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(shown)) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
      void exitCode.then(code => reject(new Error(`ended with ${code}, having shown:\n${shown}`)))
    })
  return { shown: () => shown, until, type: keys => void child.stdin.write(keys), exitCode }
}
