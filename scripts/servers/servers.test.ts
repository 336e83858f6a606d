import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { findOnPath } from './debian.ts'
import { MissingProgramError } from './missing.ts'
import { startOwnPostgres, startPostgres } from './postgres.ts'
import { startOrSay } from './real-server.test-kit.ts'
import { startOwnRedis, startRedis } from './redis.ts'

/** Real processes, perhaps an installation: the deadline is far away, and nothing waits for it. */
const TEST_MS = 180_000

const folder = mkdtempSync(join(tmpdir(), 'secondwind-servers-'))

beforeAll(() => {
  // PostgreSQL's user must be able to walk through it.
  chmodSync(folder, 0o755)
  vi.stubEnv('TMPDIR', folder)
})

afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const SERVERS = [
  {
    name: 'PostgreSQL',
    start: startOwnPostgres,
    forget: forgetful('postgres', 'startOwnPostgres'),
    variable: 'SECONDWIND_POSTGRES_URL',
    startAny: startPostgres,
    write: (url: string) => inPostgres(url, 'create table kept as select 42 as answer'),
    read: (url: string) => inPostgres(url, 'select answer from kept'),
  },
  {
    name: 'Redis',
    start: startOwnRedis,
    forget: forgetful('redis', 'startOwnRedis'),
    variable: 'SECONDWIND_REDIS_URL',
    startAny: startRedis,
    write: (url: string) => inRedis(url, 'SET kept 42'),
    read: (url: string) => inRedis(url, 'GET kept'),
  },
]

for (const { name, start, forget, variable, startAny, write, read } of SERVERS) {
  describe(`a ${name} of our own`, () => {
    it(
      'serves until it is stopped, and leaves nothing behind',
      async ({ skip }) => {
        const server = (await startOrSay(start)) ?? skip(`no ${name}`)
        await write(server.url)
        assert.match(await read(server.url), /42/)
        assert.equal(readdirSync(folder).length, 1)
        await server.stop()
        await server.stop()
        await assert.rejects(read(server.url), { code: 'ECONNREFUSED' })
        assert.deepEqual(readdirSync(folder), [])
      },
      TEST_MS,
    )

    it(
      'comes back on the same port with the same data after it was killed',
      async ({ skip }) => {
        const server = (await startOrSay(start)) ?? skip(`no ${name}`)
        await write(server.url)
        await server.kill()
        await assert.rejects(read(server.url), { code: 'ECONNREFUSED' })
        await server.restart()
        assert.match(await read(server.url), /42/)
        await server.stop()
        assert.deepEqual(readdirSync(folder), [])
      },
      TEST_MS,
    )

    it(
      'goes with the program that forgot to stop it',
      async ({ skip }) => {
        await ((await startOrSay(start)) ?? skip(`no ${name}`)).stop()
        const url = execFileSync(process.execPath, ['--input-type=module', '-e', forget], { encoding: 'utf8' })
        await refusesSoon(() => read(url))
        assert.deepEqual(readdirSync(folder), [])
      },
      TEST_MS,
    )
  })

  it(`leaves a ${name} that the environment names where it is`, async () => {
    vi.stubEnv(variable, 'theirs://somewhere')
    const server = await startAny()
    vi.stubEnv(variable, undefined)
    assert.equal(server.url, 'theirs://somewhere')
    await server.stop()
    assert.deepEqual(readdirSync(folder), [])
  })
}

/** Whoever was killed may still be on its way out: then the connection breaks, and the next one is refused. */
async function refusesSoon(ask: () => Promise<unknown>): Promise<void> {
  const codeOf = (error: NodeJS.ErrnoException): string | undefined => error.code
  let code: unknown
  do {
    code = await ask().then(() => assert.fail('it answers'), codeOf)
  } while (code === 'ECONNRESET')
  assert.equal(code, 'ECONNREFUSED')
}

describe('a server that cannot be had', () => {
  const missing = (): Promise<never> => Promise.reject(new MissingProgramError('Redis', 'it was looked for in vain'))

  it('is a reason to skip, said aloud', async () => {
    vi.stubEnv('CI', undefined)
    const say = vi.spyOn(console, 'log').mockReturnValue()
    assert.equal(await startOrSay(missing), undefined)
    assert.deepEqual(say.mock.calls, [['skipped: there is no Redis on this machine: it was looked for in vain']])
    say.mockRestore()
  })

  it('is a failure where CI=true', async () => {
    vi.stubEnv('CI', 'true')
    await assert.rejects(startOrSay(missing), { code: 'missing-program' })
  })

  it('is not confused with one that is broken', async () => {
    vi.stubEnv('CI', undefined)
    await assert.rejects(
      startOrSay(() => Promise.reject(new Error('initdb failed'))),
      /initdb failed/,
    )
  })
})

it('finds programs on the PATH, and only those that can be run', () => {
  assert.equal(findOnPath('no-such-program'), undefined)
  assert.match(findOnPath('sh') ?? '', /\/sh$/)
})

/** A program that starts a server, says where it is, and ends without stopping it. */
function forgetful(module: string, start: string): string {
  const address = new URL(`${module}.ts`, import.meta.url).href
  return `import { ${start} as start } from '${address}'
    const { url } = await start()
    process.stdout.write(url, () => process.exit())`
}

async function inPostgres(connectionString: string, sql: string): Promise<string> {
  const client = new Client({ connectionString })
  // A server that stops says so to idle clients; nobody here waits for that.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return JSON.stringify(rows)
}

async function inRedis(url: string, command: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(`${command}\r\n`)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return String(answer)
}
