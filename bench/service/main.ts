/**
 * The service's bench: `npm run bench:service`. Each lap is a fresh process; the peers' servers are the bench's own and run as long
 * as it does, for a server that was just made writes its first files more slowly than one at work.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { MissingProgramError } from '../../scripts/servers/missing.ts'
import { startOwnPostgres } from '../../scripts/servers/postgres.ts'
import { startOwnRedis } from '../../scripts/servers/redis.ts'
import type { OwnServer } from '../../scripts/servers/server.ts'
import type { Options } from '../options.ts'
import { bench, inOwnProcess, main } from '../runner.ts'
import { describeDisk } from './disk.ts'
import { WORKS } from './works/index.ts'
import type { ServiceWork } from './works/work.ts'
import type { World } from './world.ts'

const OURS = new URL('../../packages/service/dist/index.js', import.meta.url)
const LAP_MS = 300_000
/** Two million tasks on a slow disk. */
const PREPARATION_MS = 3_600_000

/** Another checkout to compare with; see lap.ts. */
const IS_BEFORE_NAMED = process.env['SECONDWIND_BEFORE'] !== undefined

/** What each peer needs to be there. */
const SERVER_OF: { readonly [contender: string]: 'redis' | 'postgres' } = {
  bullmq: 'redis',
  'pg-boss': 'postgres',
  'graphile-worker': 'postgres',
}

// Whoever ends us takes the servers along: they go when the process exits.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(128 + constants.signals[signal]))

await main({ command: 'npm run bench:service', works: WORKS, roundCount: 5, quickRoundCount: 1 }, async options => {
  if (!existsSync(OURS))
    throw new Error('packages/service is not built; run `npm run build` in the repository root first')
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-bench-'))
  const leaveNothing = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', leaveNothing)
  const servers = await startServers(options)
  try {
    const world = { folder, startedAt: Date.now(), isQuick: options.isQuick, ...urlsOf(servers) }
    await prepare(options, world)
    await bench(withoutMissing(options, servers), {
      conditions: [describeDisk(folder), ...(options.isQuick ? ['quick: these figures prove nothing'] : [])],
      lap: (work, contender) => inLap(work, contender, world, LAP_MS),
    })
  } finally {
    for (const server of servers.values()) await server?.stop()
  }
})

/** A server that cannot be had is undefined: its peers are left out, aloud. */
type Servers = ReadonlyMap<'redis' | 'postgres', OwnServer | undefined>

async function startServers({ works, contenders }: Options<ServiceWork>): Promise<Servers> {
  const servers = new Map<'redis' | 'postgres', OwnServer | undefined>()
  for (const work of works)
    for (const contender of work.contenders) {
      const kind = contenders.includes(contender) ? SERVER_OF[contender] : undefined
      if (kind !== undefined && !servers.has(kind)) servers.set(kind, await startServer(kind))
    }
  return servers
}

async function startServer(kind: 'redis' | 'postgres'): Promise<OwnServer | undefined> {
  try {
    // Room for the works' tables, so that the disk is asked for what is written and not for what was just read.
    return await (kind === 'redis' ? startOwnRedis() : startOwnPostgres({ shared_buffers: '1GB', max_wal_size: '4GB' }))
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error
    process.stderr.write(`skipped: ${error.message}\n`)
    return undefined
  }
}

function urlsOf(servers: Servers): Pick<World, 'redisUrl' | 'postgresUrl'> {
  const [redis, postgres] = [servers.get('redis'), servers.get('postgres')]
  return { ...(redis && { redisUrl: redis.url }), ...(postgres && { postgresUrl: postgres.url }) }
}

function withoutMissing(options: Options<ServiceWork>, servers: Servers): Options<ServiceWork> {
  const isThere = (contender: string): boolean => {
    const kind = SERVER_OF[contender]
    if (contender === 'before') return IS_BEFORE_NAMED
    return kind === undefined || servers.get(kind) !== undefined
  }
  return { ...options, contenders: options.contenders.filter(isThere) }
}

async function prepare({ works, contenders }: Options<ServiceWork>, world: World): Promise<void> {
  for (const work of works) {
    if (work.prepare === undefined) continue
    process.stderr.write(`preparing ${work.id}\n`)
    await inLap(work, 'prepare', world, PREPARATION_MS)
    const isCompared = work.contenders.includes('before') && contenders.includes('before')
    if (IS_BEFORE_NAMED && isCompared) await inLap(work, 'prepare before', world, PREPARATION_MS)
  }
}

function inLap<Result>(work: ServiceWork, contender: string, world: World, timeoutMs: number): Promise<Result> {
  const line = ['--expose-gc', 'lap.ts', work.id, contender, JSON.stringify(world)]
  return inOwnProcess(line, { cwd: import.meta.dirname, timeoutMs })
}
