import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

export interface RunningProgram {
  readonly url: string
  readonly introduction: string
  /** All that stderr has said so far. */
  said(): string
  /** All that stdout has so far. */
  printed(): string
  kill(signal: NodeJS.Signals): void
  /** Nobody reads it from now on. */
  closeStdout(): void
  closeStderr(): void
  readonly exitCode: Promise<number | null>
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'secondwind-serve-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** `secondwind dev` or `serve` as a process of its own, once it says where it listens. */
export async function startProgram(
  words: readonly string[],
  { outputTo, env = {} }: { readonly outputTo?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<RunningProgram> {
  const out = outputTo === undefined ? undefined : openSync(outputTo, 'w')
  const child = spawn(process.execPath, ['--conditions=@secondwind/source', MAIN, ...words], {
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, npm_lifecycle_event: undefined, ...env },
    stdio: ['ignore', out ?? 'pipe', 'pipe'],
  })
  if (out !== undefined) closeSync(out)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  const exitCode = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exitCode
  })
  let said = ''
  const introduction = await new Promise<string>((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (/API {2,}http\S+[^]*\n {2}Keys /.test(said)) resolve(said)
    })
    void exitCode.then(code => reject(new Error(`ended with ${code} before it listened:\n${said}`)))
  })
  const url = /API {2,}(\S+)/.exec(introduction)![1]!
  return {
    url,
    introduction,
    said: () => said,
    printed: () => printed,
    kill: signal => void child.kill(signal),
    closeStdout: () => void child.stdout?.destroy(),
    closeStderr: () => void child.stderr!.destroy(),
    exitCode,
  }
}
