import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresPrograms, USER } from './postgres-programs.ts'
import { launch, type OwnServer, type Server } from './server.ts'

/** As in `postgresql.conf`. */
export type PostgresSettings = { readonly [name: string]: string | number }

/** The PostgreSQL that `SECONDWIND_POSTGRES_URL` names, else one of our own. */
export async function startPostgres(): Promise<Server> {
  const url = process.env['SECONDWIND_POSTGRES_URL']
  return url === undefined ? startOwnPostgres() : { url, stop: async () => {} }
}

export async function startOwnPostgres(settings: PostgresSettings = {}): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-postgres-'))
  try {
    return await startIn(folder, settings)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(folder: string, settings: PostgresSettings): Promise<OwnServer> {
  if (USER !== undefined) chownSync(folder, USER.uid, USER.gid)
  const { initdb, postgres, env } = await postgresPrograms(folder)
  const options = { ...USER, cwd: folder, env: { ...process.env, LC_ALL: 'C', ...env } }

  const data = join(folder, 'data')
  const line = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--locale=C', '-E', 'UTF8']
  const made = spawnSync(initdb, line, { ...options, encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error?.message}`)

  return launch({
    name: 'PostgreSQL',
    command: postgres,
    argsFor: port => {
      const own = { port, listen_addresses: '127.0.0.1', unix_socket_directories: folder }
      const all = Object.entries({ ...settings, ...own })
      return ['-D', data, ...all.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    },
    urlFor: port => `postgres://postgres@127.0.0.1:${port}/postgres`,
    options,
    readyText: 'ready to accept connections',
    // Its "fast shutdown": clients are sent away, nothing is lost.
    stopSignal: 'SIGINT',
    folder,
  })
}
