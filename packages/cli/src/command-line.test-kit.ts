import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { COMMANDS } from './commands.ts'
import { runProgram } from './program.ts'

// A process takes as long as the machine lets it.
vi.setConfig({ testTimeout: 60_000 })

export interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | null
}

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

/** The program as its users start it, but from source: a process with its streams and its exit code. */
export async function secondwind(
  words: readonly string[],
  { input = '', env = {}, isHeard = true }: { input?: string; env?: NodeJS.ProcessEnv; isHeard?: boolean } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, ['--conditions=@secondwind/source', MAIN, ...words], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, ...env },
  })
  child.stdin.on('error', () => undefined).end(input)
  const exitCode = new Promise<number | null>(resolve => {
    child.on('close', code => resolve(code))
  })
  if (!isHeard) child.stdout.destroy()
  const [stdout, stderr] = await Promise.all([isHeard ? text(child.stdout) : '', text(child.stderr)])
  return { stdout, stderr, exitCode: await exitCode }
}

/** The same in this process, on a terminal of these columns at which somebody gives these answers. */
export async function atTerminal(
  words: readonly string[],
  {
    columns = 80,
    answers = [],
    hasColors = false,
  }: { columns?: number; answers?: readonly string[]; hasColors?: boolean } = {},
): Promise<Ended & { readonly questions: readonly string[] }> {
  const [stdout, stderr, questions]: string[][] = [[], [], []]
  const left = [...answers]
  const screen = { isTerminal: true, columns, hasColors, isAscii: false }
  const exitCode = await runProgram(words, COMMANDS, {
    write: data => void stdout!.push(data),
    tell: conversation => void stderr!.push(conversation),
    out: screen,
    err: screen,
    ask: question => {
      questions!.push(question)
      return Promise.resolve(left.shift() ?? '')
    },
    readInput: () => Promise.resolve(''),
  })
  return { stdout: stdout!.join(''), stderr: stderr!.join(''), exitCode, questions: questions! }
}
