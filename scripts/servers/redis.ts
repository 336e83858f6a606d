import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programFromDebian } from './debian.ts'
import { launch, type OwnServer, type Server } from './server.ts'

/** The Redis that `SECONDWIND_REDIS_URL` names, else one of our own. */
export async function startRedis(): Promise<Server> {
  const url = process.env['SECONDWIND_REDIS_URL']
  return url === undefined ? startOwnRedis() : { url, stop: async () => {} }
}

/** As one runs it for work that must not be lost: a log synced every second, and nothing evicted. */
const SAFE = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction']

export async function startOwnRedis(): Promise<OwnServer> {
  const command = programFromDebian('redis-server')
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-redis-'))
  return launch({
    name: 'Redis',
    command,
    argsFor: port => ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, ...SAFE],
    urlFor: port => `redis://127.0.0.1:${port}`,
    options: { cwd: folder },
    readyText: 'Ready to accept connections',
    stopSignal: 'SIGTERM',
    folder,
  })
}
