import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
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

interface Surroundings {
  readonly input?: string | Uint8Array
  readonly env?: NodeJS.ProcessEnv
  /** False: whoever reads stdout has seen enough before it begins. */
  readonly isHeard?: boolean
  /** A file, instead of a pipe that is read. */
  readonly outputTo?: string
  /** Somebody else than who runs the tests, which only root can be. */
  readonly uid?: number
}

/** A user who owns nothing. */
export const NOBODY = 65_534

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

/** Why no program can be run as somebody else here, for the title of what is skipped; else empty. */
export function whyAlone(): string {
  const { status } = spawnSync(process.execPath, ['--check', MAIN], { uid: NOBODY, gid: NOBODY })
  return status === 0 ? '' : ' (skipped: it needs root, and sources that others can read)'
}

/** The program as its users start it, but from source: a process with its streams and its exit code. */
export async function secondwind(
  words: readonly string[],
  { input = '', env = {}, isHeard = true, outputTo, uid }: Surroundings = {},
): Promise<Ended> {
  const out = outputTo === undefined ? undefined : openSync(outputTo, 'w')
  const child = spawn(process.execPath, ['--conditions=@secondwind/source', MAIN, ...words], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, npm_lifecycle_event: undefined, ...env },
    stdio: ['pipe', out ?? 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  if (out !== undefined) closeSync(out)
  child.stdin!.on('error', () => undefined).end(input)
  const exitCode = new Promise<number | null>(resolve => {
    child.on('close', code => resolve(code))
  })
  if (!isHeard) child.stdout?.destroy()
  const [stdout, stderr] = await Promise.all([isHeard && child.stdout ? text(child.stdout) : '', text(child.stderr!)])
  return { stdout, stderr, exitCode: await exitCode }
}

/** A line that was printed to be pasted, in a shell in this folder. */
export async function pasted(line: string, folder: string): Promise<Ended> {
  const program = `secondwind() { '${process.execPath}' --conditions=@secondwind/source '${MAIN}' "$@"; }`
  const child = spawn('sh', ['-c', `${program}\n${line}`], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const exitCode = new Promise<number | null>(resolve => {
    child.on('close', code => resolve(code))
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr, exitCode: await exitCode }
}

interface Screening {
  readonly columns?: number
  readonly answers?: readonly string[]
  readonly hasColors?: boolean
  readonly isAscii?: boolean
  readonly input?: string | Uint8Array
}

/** The same in this process, on a terminal of these columns at which somebody gives these answers. */
export async function atTerminal(
  words: readonly string[],
  screening: Screening = {},
): Promise<Ended & { readonly questions: readonly string[] }> {
  return inThisProcess(words, { ...screening, isTerminal: true })
}

/** The same in a pipe, where nobody can be asked. */
export async function inPipe(words: readonly string[], screening: Screening = {}): Promise<Ended> {
  return inThisProcess(words, { ...screening, isTerminal: false })
}

async function inThisProcess(
  words: readonly string[],
  {
    columns = 80,
    answers = [],
    hasColors = false,
    isAscii = false,
    input = '',
    isTerminal,
  }: Screening & { readonly isTerminal: boolean },
): Promise<Ended & { readonly questions: readonly string[] }> {
  const [stdout, stderr, questions]: string[][] = [[], [], []]
  const left = [...answers]
  const screen = { isTerminal, columns, rows: 24, hasColors, isAscii }
  const ask = (question: string): Promise<string> => {
    questions!.push(question)
    return Promise.resolve(left.shift() ?? '')
  }
  const exitCode = await runProgram(words, COMMANDS, {
    write: data => void stdout!.push(data),
    writeBytes: bytes => void stdout!.push(String(bytes)),
    writeOrLose: data => void stdout!.push(data),
    tell: conversation => void stderr!.push(conversation),
    out: screen,
    err: screen,
    ...(isTerminal && { ask }),
    readInput: () => Promise.resolve(Buffer.from(input)),
  })
  return { stdout: stdout!.join(''), stderr: stderr!.join(''), exitCode, questions: questions! }
}
