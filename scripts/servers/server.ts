/**
 * Real servers without containers: each is a process of ours on a free port of the loopback, with its data in a
 * temporary folder. `stop()` ends the one and removes the other; so does the end of the program that forgot to call it.
 */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'

export interface Server {
  readonly url: string
  stop(): Promise<void>
}

/** A server that may be treated badly, because nobody else uses it. */
export interface OwnServer extends Server {
  /** `kill -9`: no goodbye to anybody, nothing is written any more. */
  kill(): Promise<void>
  /** After a kill: the same port, the same data. */
  restart(): Promise<void>
}

/** What has to be known of a server's program to run it. */
export interface Program {
  /** As people call it. */
  readonly name: string
  readonly command: string
  readonly argsFor: (port: number) => readonly string[]
  readonly urlFor: (port: number) => string
  readonly options: Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>
  /** Part of the line with which it says that it can be used. */
  readonly readyText: string
  /** Ends it in an orderly way, without waiting for its clients. */
  readonly stopSignal: NodeJS.Signals
  /** Its alone; removed with it. */
  readonly folder: string
}

/** Another program may take the free port before ours does. */
const STARTS_TRIED = 5
/** What a killed server left behind, processes that still notice its death, may keep the first tries from starting. */
const RESTARTS_TRIED = 50

export async function launch(program: Program): Promise<OwnServer> {
  let { child, port } = await start(program, STARTS_TRIED, freePort)
  const leaveNothing = (): void => {
    killFamily(child)
    removeFolder(program.folder)
  }
  process.once('exit', leaveNothing)
  return {
    url: program.urlFor(port),
    kill: () => kill(child),
    restart: async () => {
      ;({ child } = await start(program, RESTARTS_TRIED, async () => port))
    },
    stop: async () => {
      process.off('exit', leaveNothing)
      await end(child, program.stopSignal)
      removeFolder(program.folder)
    },
  }
}

async function start(
  program: Program,
  mostTries: number,
  choosePort: () => Promise<number>,
): Promise<{ child: ChildProcess; port: number }> {
  let reason = ''
  for (let tries = 0; tries < mostTries; tries++) {
    const port = await choosePort()
    const { child, lastWords } = await startOnce(program, port)
    if (child !== undefined) return { child, port }
    reason = lastWords
  }
  removeFolder(program.folder)
  throw new Error(`${program.name} does not start: ${reason}`)
}

interface Started {
  /** Absent when it ended before it could be used. */
  readonly child?: ChildProcess
  readonly lastWords: string
}

/** Reads on after the server is ready: a full pipe would stop it. */
function startOnce({ command, argsFor, options, readyText }: Program, port: number): Promise<Started> {
  const child = spawn(command, argsFor(port), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let words: string | undefined = ''
  return new Promise((resolve, reject) => {
    const listen = (text: string): void => {
      if (words === undefined) return
      words += text
      if (!words.includes(readyText)) return
      words = undefined
      resolve({ child, lastWords: '' })
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', listen)
    child.once('error', reject)
    child.once('close', () => resolve({ lastWords: words?.trim() ?? '' }))
  })
}

/** Whoever does not stop in so long is not asked again. */
const STOP_MS = 10_000

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(impatience)
}

async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  killFamily(child)
  await ended
}

function killFamily(child: ChildProcess): void {
  if (hasEnded(child)) return
  // Stopped first, so that it has no further children: one that outlives it could still write.
  child.kill('SIGSTOP')
  const children = childrenOf(child.pid!)
  child.kill('SIGKILL')
  for (const pid of children) killIfThere(pid)
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function removeFolder(folder: string): void {
  // Children that notice their parent's death may still be writing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
